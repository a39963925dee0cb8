import type { RunId } from '../contract/run-id.ts';

/** What the keeper thread is started with. */
export interface KeeperData {
  readonly homePath: string;
  readonly databaseUrl?: string;
  readonly version: string;
  /** One Int32: PENDING when something was appended since the keeper last looked, URGENT when somebody waits for it. */
  readonly signal: SharedArrayBuffer;
}

export const IDLE = 0;
export const PENDING = 1;
export const URGENT = 2;

/** What the keeper thread says. */
export type KeeperReport =
  | { readonly kind: 'ready'; readonly interrupted: number }
  | { readonly kind: 'settled'; readonly runs: readonly RunId[] }
  | { readonly kind: 'stalled'; readonly message: string }
  | { readonly kind: 'stopped' };
