import type { IrAnswerEvent } from '../ir/event.ts';

/** Changes one answer on its way to the caller, event by event. */
export interface AnswerFilter {
  filter(event: IrAnswerEvent): IrAnswerEvent[];
  /** The filter ended the answer itself; the engine need not go on. */
  readonly done?: boolean;
}

/**
 * What must happen to an answer on its way back, as plain data: a request may be prepared on another thread than its answer is read
 * on, and each of several answers needs filters of its own.
 */
export type AnswerChange =
  | { readonly kind: 'input-estimate'; readonly tokens: number }
  | { readonly kind: 'tool-names'; readonly renames: ReadonlyMap<string, string> }
  | { readonly kind: 'tool-ids'; readonly rule: RegExp; readonly taken: readonly string[] }
  | { readonly kind: 'custom-tools'; readonly names: ReadonlySet<string> }
  | { readonly kind: 'forced-tool' }
  /** The caller asked for JSON: nothing may be added to its text. */
  | { readonly kind: 'json-answer' }
  | { readonly kind: 'single-call' }
  | { readonly kind: 'unwrap' }
  | { readonly kind: 'stop-cut'; readonly stop: readonly string[] };
