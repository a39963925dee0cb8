import type { Mode } from '../contract/support.ts';

/** What a call is about to do, for whoever must allow it. */
export interface PolicyAsk {
  readonly keyId: string | null;
  readonly dialect: string;
  readonly engine: string;
  readonly model: string;
  readonly mode: Mode;
  /** Names of the tools the request offers; undefined in passthrough, where the body is not read. */
  readonly tools?: readonly string[] | undefined;
}

/** Throws E004 or E005 to refuse a call before anyone is called. */
export type Policy = (ask: PolicyAsk) => void;

/** The policy of an installation that has none. */
export const allowAll: Policy = () => undefined;
