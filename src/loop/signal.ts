import type { Json } from '../base/json.ts';
import type { IrPart } from '../ir/part.ts';
import type { FinishReason } from '../ir/response.ts';
import type { IrUsage } from '../ir/usage.ts';
import type { CallEffect, CallState } from './state.ts';

/** A tool call that the model asks for, with what the platform knows of the tool. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly effect: CallEffect;
  readonly needsApproval: boolean;
}

/** How a tool call ended. */
export type CallEnd =
  | { readonly status: 'success'; readonly output: Json }
  | { readonly status: 'error' | 'timeout' | 'cancelled'; readonly error: string };

/** A result as the model reads it. */
export function resultText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A whole answer of the model. */
export interface ModelAnswer {
  readonly parts: readonly IrPart[];
  readonly calls: readonly AskedCall[];
  readonly finish: FinishReason;
  readonly model: string;
  readonly engine: string;
  readonly usage: IrUsage;
  readonly costNanoUsd: number;
  /** The price list of the cost; null where the model has no price. */
  readonly priceVersion: string | null;
  /** The run whose receipt has the call. */
  readonly runId: string;
  readonly ms: number;
  /** Number of the last event that the request had taken in. */
  readonly readUpTo: number;
}

/** An answer that was broken off, and what it has cost until then. */
export interface CutAnswer extends Pick<ModelAnswer, 'model' | 'engine' | 'usage' | 'costNanoUsd' | 'priceVersion' | 'runId'> {
  /** Empty where it had no words yet. */
  readonly text: string;
}

/** Why the model gave no answer. */
export interface ModelFailure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** Something that happened to a turn. */
export type LoopSignal =
  | { readonly kind: 'answered'; readonly answer: ModelAnswer }
  /** `cut`: what there was of an answer. */
  | { readonly kind: 'model-failed'; readonly failure: ModelFailure; readonly cut?: CutAnswer | undefined }
  | { readonly kind: 'call-ended'; readonly id: string; readonly end: CallEnd; readonly ms: number }
  /** A message was sent to the session. */
  | { readonly kind: 'message' }
  | { readonly kind: 'approval'; readonly approvalId: string; readonly approved: boolean; readonly note?: string | undefined }
  /** Another worker had the turn before; what it was doing is unknown. */
  | { readonly kind: 'taken-over' }
  /** Every worker that takes the turn dies of it; it ends instead. */
  | { readonly kind: 'given-up'; readonly failure: ModelFailure };

/** Work to do once the step is written down. */
export type LoopCommand =
  | { readonly kind: 'call-model'; readonly delayMs: number; readonly attempt: number }
  | { readonly kind: 'run-call'; readonly call: CallState };
