import { isJsonObject, parseJson } from '../../base/json.ts';

/** The place of a process among those that share a port. The first starts it with this in its environment. */
export interface Membership {
  /** From 1 on. The first process has the home of the installation. */
  readonly number: number;
  readonly count: number;
  /** The port that all of them share. */
  readonly port: number;
  /** The port of its own door before it was started again; 0 for any. */
  readonly ownPort: number;
  /** Whether it tells people where the server is. */
  readonly greets: boolean;
}

/** A process tells the one that started it that it serves, and that an operator wants the configuration read again. */
export type MemberMessage = { readonly kind: 'ready'; readonly url: string; readonly ownPort: number } | { readonly kind: 'reload' };

/** The process that started it says this, so that it ends and another one takes its place. */
export const STOP = 'stop';

const VARIABLE = 'ABP_PROCESS';

export function membershipVariable(membership: Membership): Readonly<Record<string, string>> {
  return { [VARIABLE]: JSON.stringify(membership) };
}

/** The place of this process; undefined where it was not started as one of several. */
export function takeMembership(env: NodeJS.ProcessEnv = process.env): Membership | undefined {
  const text = env[VARIABLE];
  if (text === undefined || process.send === undefined) return undefined;
  // Not for programs that this process starts.
  delete env[VARIABLE];
  const parsed = parseJson(text);
  const { number, count, port, ownPort, greets } = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  if (typeof number !== 'number' || typeof count !== 'number' || typeof port !== 'number' || typeof ownPort !== 'number') return undefined;
  return { number, count, port, ownPort, greets: greets === true };
}

export function tellSupervisor(message: MemberMessage): void {
  process.send?.(message);
}
