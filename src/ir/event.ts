import type { TokenLogprob } from './logprob.ts';
import type { Citation, VendorMeta, VendorPart } from './part.ts';
import type { FinishReason, IrError } from './response.ts';
import type { IrUsage } from './usage.ts';

/** A part as it opens; its text, reasoning and arguments follow as deltas. */
export type IrPartStart =
  | { readonly kind: 'text' | 'refusal'; readonly meta?: VendorMeta }
  | { readonly kind: 'thinking'; readonly redacted?: boolean; readonly meta?: VendorMeta }
  | { readonly kind: 'tool-call'; readonly id: string; readonly name: string; readonly custom?: boolean; readonly meta?: VendorMeta }
  | VendorPart;

/**
 * A streamed answer. Exactly one `message-start`, then parts that open, grow and close (parts may overlap; `index` tells them apart),
 * then exactly one terminal event: `message-end` or `error`. A delta with logprobs may have no text: its tokens make up a later one.
 */
export type IrAnswerEvent =
  | { readonly type: 'message-start'; readonly id?: string; readonly model?: string; readonly usage?: IrUsage }
  | { readonly type: 'part-start'; readonly index: number; readonly part: IrPartStart }
  | { readonly type: 'part-delta'; readonly index: number; readonly text: string; readonly logprobs?: readonly TokenLogprob[] }
  | { readonly type: 'part-end'; readonly index: number; readonly meta?: VendorMeta; readonly citations?: readonly Citation[] }
  | {
      readonly type: 'message-end';
      readonly finish: FinishReason;
      readonly stopSequence?: string;
      readonly usage: IrUsage;
      readonly meta?: VendorMeta;
    }
  | { readonly type: 'error'; readonly error: IrError }
  | { readonly type: 'keep-alive' };

/**
 * The events of a stepper. A caller that asked for several answers gets the first one plainly and each further one wrapped, with a start
 * and an end of its own, which comes before the end of the first. `choice` counts from 1.
 */
export type IrEvent = IrAnswerEvent | { readonly type: 'choice'; readonly choice: number; readonly event: IrAnswerEvent };
