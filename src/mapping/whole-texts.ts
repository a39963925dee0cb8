import { AbpError } from '../contract/errors.ts';
import type { IrAnswerEvent } from '../ir/event.ts';

/** No model writes as much into one call or one JSON answer, and reading it takes some milliseconds. */
const LONGEST = 4 * 1024 * 1024;

/** Parts of an answer that can only be read when they are whole: their text is held back and comes in one piece. */
export class WholeTexts {
  readonly #texts = new Map<number, string>();

  /** From now on the text of this part is held back. */
  hold(index: number): void {
    this.#texts.set(index, '');
  }

  /** The event, or what becomes of it; `read` makes the caller's text of the whole one. Throws where a text does not end. */
  filter(event: IrAnswerEvent, read: (text: string) => string): IrAnswerEvent[] {
    if (event.type !== 'part-delta' && event.type !== 'part-end') return [event];
    const text = this.#texts.get(event.index);
    if (text === undefined) return [event];
    if (event.type === 'part-end') return [{ type: 'part-delta', index: event.index, text: read(text) }, event];
    if (text.length + event.text.length > LONGEST)
      throw new AbpError(
        'engine_failed',
        `The engine wrote more than ${LONGEST / 1024 / 1024} MiB of JSON that can only be read as a whole.`,
      );
    this.#texts.set(event.index, text + event.text);
    return [];
  }
}
