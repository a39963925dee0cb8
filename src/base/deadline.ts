import { createContext, Script } from 'node:vm';

const script = new Script('run()');
const context = createContext({});

/**
 * Runs synchronous work and ends it after so long, with an error that `isTimeout` knows. The deadline of a script also ends the functions of
 * ours that it calls; nothing else interrupts a regular expression of somebody else's that backtracks for ever.
 */
export function withinDeadline<T>(ms: number, run: () => T): T {
  let result: { readonly value: T } | undefined;
  context.run = () => {
    result = { value: run() };
  };
  try {
    script.runInContext(context, { timeout: ms });
  } finally {
    context.run = undefined;
  }
  if (result === undefined) throw new Error('the work ended without a result');
  return result.value;
}

/** The error is made in the context of the script, so it is no instance of our `Error`. */
export function isTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
