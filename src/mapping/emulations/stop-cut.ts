import type { IrAnswerEvent } from '../../ir/event.ts';
import type { TokenLogprob } from '../../ir/logprob.ts';
import type { IrRequest } from '../../ir/request.ts';
import { countTokens } from '../../ir/token-estimate.ts';
import { type IrUsage, NO_USAGE } from '../../ir/usage.ts';
import type { AnswerFilter } from '../answer-filter.ts';
import type { Emulation } from './emulation.ts';

/** Stop sequences on an engine without them: the answer is cut here, before the first match, and the engine is told to stop. */
export function stopCut(request: IrRequest): Emulation | undefined {
  const { stop } = request;
  if (stop.length === 0) return undefined;
  return {
    notes: [
      {
        concept: 'stop_sequences',
        fate: 'emulated',
        code: 'cut_at_stop',
        note: 'the answer is cut at the first stop sequence by the gateway',
      },
    ],
    request: { ...request, stop: [] },
    change: { kind: 'stop-cut', stop },
  };
}

export class StopFilter implements AnswerFilter {
  readonly #stop: readonly string[];
  readonly #held = new Map<number, HeldText>();
  readonly #open = new Set<number>();
  readonly #text = new Set<number>();
  #usage: IrUsage = NO_USAGE;
  #written = '';
  done = false;

  constructor(stop: readonly string[]) {
    this.#stop = stop;
  }

  filter(event: IrAnswerEvent): IrAnswerEvent[] {
    if (this.done) return [];
    switch (event.type) {
      case 'message-start':
        this.#usage = event.usage ?? NO_USAGE;
        return [event];
      case 'part-start':
        this.#open.add(event.index);
        if (event.part.kind === 'text') this.#text.add(event.index);
        return [event];
      case 'part-delta':
        this.#written += event.text;
        return this.#text.has(event.index) ? this.#grow(event) : [event];
      case 'part-end':
        this.#open.delete(event.index);
        return [...this.#release(event.index), event];
      default:
        return [event];
    }
  }

  #grow({ index, text, logprobs }: Extract<IrAnswerEvent, { type: 'part-delta' }>): IrAnswerEvent[] {
    const held = this.#held.get(index) ?? new HeldText();
    this.#held.set(index, held);
    held.add(text, logprobs);
    const match = firstMatch(held.text, this.#stop);
    if (match !== undefined) return this.#cut(index, held.take(match.at), match.stop);
    return told(index, held.take(held.text.length - longestTail(held.text, this.#stop)));
  }

  #release(index: number): IrAnswerEvent[] {
    const held = this.#held.get(index);
    this.#held.delete(index);
    return held === undefined ? [] : told(index, held.rest());
  }

  #cut(index: number, text: Told, stop: string): IrAnswerEvent[] {
    this.done = true;
    const last = told(index, text);
    const ends = [...this.#open].map((open): IrAnswerEvent => ({ type: 'part-end', index: open }));
    return [...last, ...ends, { type: 'message-end', finish: 'stop-sequence', stopSequence: stop, usage: this.#spent() }];
  }

  /** An engine that is told to stop does not say what it wrote; what arrived of it is counted here. */
  #spent(): IrUsage {
    return { ...this.#usage, outputTokens: Math.max(this.#usage.outputTokens, countTokens(this.#written)), estimated: true };
  }
}

interface Told {
  readonly text: string;
  readonly logprobs: readonly TokenLogprob[];
}

function told(index: number, { text, logprobs }: Told): IrAnswerEvent[] {
  if (text === '' && logprobs.length === 0) return [];
  return [{ type: 'part-delta', index, text, ...(logprobs.length === 0 ? {} : { logprobs }) }];
}

/** Text that may be the start of a stop sequence, with its tokens: a token is told once all of its text is. */
class HeldText {
  text = '';
  #tokens: TokenLogprob[] = [];
  /** How much of the first token's text has been told already. */
  #ahead = 0;

  add(text: string, logprobs: readonly TokenLogprob[] = []): void {
    this.text += text;
    this.#tokens.push(...logprobs);
  }

  take(length: number): Told {
    const text = this.text.slice(0, length);
    this.text = this.text.slice(length);
    let room = this.#ahead + length;
    let count = 0;
    for (const { token } of this.#tokens) {
      if (token.length > room) break;
      room -= token.length;
      count += 1;
    }
    this.#ahead = room;
    return { text, logprobs: this.#tokens.splice(0, count) };
  }

  /** Everything, also tokens whose text is not as the engine wrote it. */
  rest(): Told {
    const { text, logprobs } = this.take(this.text.length);
    return { text, logprobs: [...logprobs, ...this.#tokens.splice(0)] };
  }
}

function firstMatch(text: string, stops: readonly string[]): { at: number; stop: string } | undefined {
  let best: { at: number; stop: string } | undefined;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at !== -1 && (best === undefined || at < best.at)) best = { at, stop };
  }
  return best;
}

/** How much of the end could still grow into a stop sequence. */
function longestTail(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops) {
    for (let size = Math.min(stop.length - 1, text.length); size > longest; size -= 1) {
      if (text.endsWith(stop.slice(0, size))) longest = size;
    }
  }
  return longest;
}
