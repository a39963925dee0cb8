import type { EmulationEntry } from '../contract/negotiation.ts';
import type { AnswerConcept } from '../ir/answer-concept.ts';
import type { IrAnswerEvent } from '../ir/event.ts';
import type { JsonAsked, JsonVerdict } from '../negotiation/post-processing.ts';
import type { AnswerNote } from './answers/account.ts';

/** Changes one answer on its way to the caller, event by event. */
export interface AnswerFilter {
  filter(event: IrAnswerEvent): IrAnswerEvent[];
  /** The filter ended the answer itself; the engine need not go on. */
  readonly done?: boolean;
  /** The filter's notes so far on what it did to the answer. */
  readonly notes?: readonly FilterNote[];
  /** A question about the answer that is left for another thread; the end of the answer waits for `settle`. */
  readonly open?: JsonAsked | undefined;
  /** The rest of the answer, once the question is answered. */
  settle?(verdict: JsonVerdict): IrAnswerEvent[];
}

/** A filter's note on everything of one concept in an answer. */
export interface FilterNote {
  readonly concept: AnswerConcept;
  readonly note: AnswerNote;
  /** The capability that it is listed under, where that is not the concept's own. */
  readonly as?: EmulationEntry['capability'];
}

/**
 * A change to an answer on its way back, as plain data: a request may be prepared on another thread than its answer is read
 * on, and each of several answers needs filters of its own.
 */
export type AnswerChange =
  | { readonly kind: 'input-estimate'; readonly tokens: number }
  | { readonly kind: 'tool-names'; readonly renames: ReadonlyMap<string, string> }
  | { readonly kind: 'tool-ids'; readonly rule: RegExp; readonly taken: readonly string[] }
  | { readonly kind: 'custom-tools'; readonly names: ReadonlySet<string> }
  | { readonly kind: 'wrapped-calls'; readonly names: ReadonlySet<string> }
  | { readonly kind: 'forced-tool'; readonly name: string; readonly schema?: string }
  /** The caller asked for JSON: nothing may be added to its text. */
  | { readonly kind: 'json-answer' }
  | { readonly kind: 'single-call' }
  | { readonly kind: 'unwrap' }
  | { readonly kind: 'bare-text' }
  | { readonly kind: 'stop-cut'; readonly stop: readonly string[] };
