import type { IrPart, VendorMeta } from './part.ts';
import type { IrUsage } from './usage.ts';

/** Why the answer ended. A turn with tool calls is `tool-calls` whatever the vendor's reason says. */
export type FinishReason =
  | 'stop'
  | 'stop-sequence'
  | 'length'
  | 'tool-calls'
  | 'refusal'
  | 'content-filter'
  | 'pause'
  | 'context-window'
  | 'error';

/** A whole answer. */
export interface IrResponse {
  readonly id?: string;
  readonly model: string;
  readonly parts: readonly IrPart[];
  readonly finish: FinishReason;
  /** The stop sequence that ended the answer, where the engine tells. */
  readonly stopSequence?: string;
  readonly usage: IrUsage;
  readonly meta?: VendorMeta;
  /** The further answers, where the caller asked for several; all usage is told by the first. */
  readonly alternatives?: readonly IrResponse[];
}

/** The kinds of failure every vendor can express in its own way. */
export type IrErrorKind =
  | 'invalid-request'
  | 'authentication'
  | 'permission'
  | 'not-found'
  | 'too-large'
  | 'context-length'
  | 'rate-limit'
  | 'quota'
  | 'overloaded'
  | 'timeout'
  | 'server';

/** Failures that another try may get around. */
const TRANSIENT: ReadonlySet<IrErrorKind> = new Set(['rate-limit', 'overloaded', 'timeout', 'server']);

export function isTransient(kind: IrErrorKind): boolean {
  return TRANSIENT.has(kind);
}

/** An error of the engine in neutral words; `status` is what the engine answered. */
export interface IrError {
  readonly kind: IrErrorKind;
  readonly message: string;
  readonly status: number;
  readonly retryAfterMs?: number;
}
