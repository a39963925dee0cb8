import type { EventDraft } from '../../adapter.ts';

/** Text and thinking of a run, opened and closed once each; the engine adds what has accumulated. */
export class Spoken {
  #text: string | undefined;
  #thinking: string | undefined;

  /** A piece of an answer. Thinking that was open is over. */
  text(delta: string): readonly EventDraft[] {
    if (delta === '') return [];
    const opening: readonly EventDraft[] = this.#text === undefined ? [...this.endThinking(), { type: 'message_start' }] : [];
    this.#text = (this.#text ?? '') + delta;
    return [...opening, { type: 'text_delta', delta }];
  }

  /** A piece of thinking. Text that was open is over. */
  thinking(delta: string): readonly EventDraft[] {
    if (delta === '') return [];
    const opening: readonly EventDraft[] = this.#thinking === undefined ? [...this.endText(), { type: 'thinking_start' }] : [];
    this.#thinking = (this.#thinking ?? '') + delta;
    return [...opening, { type: 'thinking_delta', delta }];
  }

  endText(): readonly EventDraft[] {
    const text = this.#text;
    this.#text = undefined;
    return text === undefined ? [] : [{ type: 'message_stop', text }];
  }

  endThinking(): readonly EventDraft[] {
    const thinking = this.#thinking;
    this.#thinking = undefined;
    return thinking === undefined ? [] : [{ type: 'thinking_stop', thinking }];
  }

  /** Closes what is open, before a tool call or the end. */
  end(): readonly EventDraft[] {
    return [...this.endThinking(), ...this.endText()];
  }
}
