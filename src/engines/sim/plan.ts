import type { IrEvent, IrPartStart } from '../../ir/event.ts';
import type { Citation, VendorMeta } from '../../ir/part.ts';
import type { IrError } from '../../ir/response.ts';

/** One part of the answer with its whole content. */
export interface WholePart {
  readonly start: IrPartStart;
  readonly text: string;
  readonly endMeta?: VendorMeta;
  readonly citations?: readonly Citation[];
}

/**
 * One thing the sim does. `fail` is always the last step and no event comes before it, so it is an HTTP error; `cut` is always the last
 * step and comes after at least one event: the connection breaks.
 */
export type SimStep =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'event'; readonly event: IrEvent }
  | { readonly kind: 'fail'; readonly error: IrError }
  /** The answer has a good status and says that it failed. */
  | { readonly kind: 'fail-inside'; readonly error: IrError }
  | { readonly kind: 'cut' };

/** Changes to the bytes of an answer that a prompt asked for. */
export interface Wrapping {
  /** They are compressed although nobody asked for it. */
  readonly gzip: boolean;
  /** A byte order mark stands before them. */
  readonly mark: boolean;
  /** A page of a proxy comes in their place. */
  readonly page: boolean;
}

/** Everything the sim does for one request, in order. Without `fail` or `cut` its events are one whole stream. */
export interface SimPlan {
  readonly steps: readonly SimStep[];
  readonly wrapping: Wrapping;
}

/** A tool call the sim decided on; `arguments` is JSON text, or free text for a custom tool. */
export interface PlannedCall {
  readonly name: string;
  readonly arguments: string;
  readonly custom: boolean;
}
