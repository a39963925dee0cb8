/** Errors of connections that could not be made; nothing in them says that they were meant for a database. */
const unreached = new WeakSet<object>();

/** Passes the error of a connection to the database on, which `isAway` then knows. */
export function unreachable(error: unknown): never {
  if (typeof error === 'object' && error !== null) unreached.add(error);
  throw error;
}

/** Conditions in which PostgreSQL ends connections or takes none (classes 08 and 57P of its error codes). */
const ENDED = /^(?:08\w{3}|57P0[1-5])$/;
/** Words of the client for a connection that broke under a query. */
const BROKE = /^(?:Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/;

/** Whether the error says that the database does not answer, and not that it refused what it was asked. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return unreached.has(error) || ENDED.test(code) || BROKE.test(error.message);
}
