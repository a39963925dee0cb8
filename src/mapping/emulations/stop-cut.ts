import type { IrEvent } from '../../ir/event.ts';
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
    capability: 'stop_sequences',
    detail: 'the answer is cut at the first stop sequence',
    note: { concept: 'stop_sequences', fate: 'emulated', note: 'the answer is cut at the first stop sequence by the gateway' },
    request: { ...request, stop: [] },
    filter: () => new StopFilter(stop),
  };
}

class StopFilter implements AnswerFilter {
  readonly #stop: readonly string[];
  readonly #held = new Map<number, string>();
  readonly #open = new Set<number>();
  readonly #text = new Set<number>();
  #usage: IrUsage = NO_USAGE;
  #written = '';
  done = false;

  constructor(stop: readonly string[]) {
    this.#stop = stop;
  }

  filter(event: IrEvent): IrEvent[] {
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
        return this.#text.has(event.index) ? this.#grow(event.index, event.text) : [event];
      case 'part-end':
        this.#open.delete(event.index);
        return [...this.#release(event.index), event];
      default:
        return [event];
    }
  }

  #grow(index: number, text: string): IrEvent[] {
    const all = (this.#held.get(index) ?? '') + text;
    const match = firstMatch(all, this.#stop);
    if (match !== undefined) return this.#cut(index, all.slice(0, match.at), match.stop);
    const keep = longestTail(all, this.#stop);
    this.#held.set(index, all.slice(all.length - keep));
    return keep === all.length ? [] : [{ type: 'part-delta', index, text: all.slice(0, all.length - keep) }];
  }

  #release(index: number): IrEvent[] {
    const held = this.#held.get(index) ?? '';
    this.#held.delete(index);
    return held === '' ? [] : [{ type: 'part-delta', index, text: held }];
  }

  #cut(index: number, text: string, stop: string): IrEvent[] {
    this.done = true;
    const last: IrEvent[] = text === '' ? [] : [{ type: 'part-delta', index, text }];
    const ends = [...this.#open].map((open): IrEvent => ({ type: 'part-end', index: open }));
    return [...last, ...ends, { type: 'message-end', finish: 'stop-sequence', stopSequence: stop, usage: this.#spent() }];
  }

  /** An engine that is told to stop does not say what it wrote; what arrived of it is counted here. */
  #spent(): IrUsage {
    return { ...this.#usage, outputTokens: Math.max(this.#usage.outputTokens, countTokens(this.#written)), estimated: true };
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
