import type { AbpError } from '../../contract/errors.ts';
import type { Deployment } from '../deployment.ts';

/** The caller's side of a call. `head` once, then chunks, then `end`; or `refuse` instead of all; or `abandon` at any time. */
export interface Answer {
  /** The deployment of an engine that is asked now, and how many tries have been sent with this one; the caller is told with the head. */
  from(deployment: Pick<Deployment, 'engine' | 'place'>, tries: number): void;
  head(status: number, headers: readonly string[]): void;
  /** False when the caller is slow: pause until `onDrain` is called. */
  write(chunk: Buffer): boolean;
  /** `last` is the rest of the body, where it was held back. */
  end(trailers: readonly string[], last?: Buffer): void;
  /** An error of ours, in the caller's own shape. Only before `head`. */
  refuse(error: AbpError): void;
  /** The engine broke off: the caller must see a broken connection, not a clean end. */
  abandon(): void;
}
