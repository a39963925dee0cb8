import type { FateNote } from '../../dialects/dialect.ts';
import type { IrAnswerEvent } from '../../ir/event.ts';
import type { AnswerFilter, FilterNote } from '../answer-filter.ts';

/** The account's note about a wire that cannot be told to make one call at a time. */
export const SINGLE_CALL: FateNote = {
  concept: 'parallel_tool_calls',
  fate: 'emulated',
  code: 'cut_to_one_call',
  note: 'the answer is cut to its first tool call by the gateway',
};

const HIDDEN: FilterNote = {
  concept: 'tool_call',
  note: { fate: 'emulated', code: 'further_calls_hidden', note: 'the caller asked for one call at a time and gets the first' },
};

/** One call at a time on an engine that cannot be told so: the caller sees the first call of an answer and none of the others. */
export class SingleCallFilter implements AnswerFilter {
  #called = false;
  readonly #hidden = new Set<number>();

  get notes(): readonly FilterNote[] {
    return this.#hidden.size === 0 ? [] : [HIDDEN];
  }

  filter(event: IrAnswerEvent): IrAnswerEvent[] {
    if (event.type === 'part-start' && event.part.kind === 'tool-call') {
      if (this.#called) this.#hidden.add(event.index);
      this.#called = true;
    }
    return 'index' in event && this.#hidden.has(event.index) ? [] : [event];
  }
}
