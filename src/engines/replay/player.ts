import type { EngineNote, ExchangeSink } from '../../upstream/exchange.ts';
import type { Playable } from './source.ts';

/** Plays an answer chunk by chunk: at once, or each when it came. A slow reader holds it up. */
export class Player {
  readonly #answer: Playable;
  readonly #sink: ExchangeSink;
  /** When the call began, where the original timing is kept. */
  readonly #started: number | undefined;
  #next = 0;
  #timer: NodeJS.Timeout | undefined;
  #paused = false;
  #stopped = false;
  over = false;

  constructor(answer: Playable, sink: ExchangeSink, started: number | undefined) {
    this.#answer = answer;
    this.#sink = sink;
    this.#started = started;
  }

  start(note: EngineNote): void {
    this.#at(this.#answer.headUs, () => {
      this.#sink.head(this.#answer.status, this.#answer.headers, note);
      this.#play();
    });
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#play();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #play(): void {
    for (;;) {
      if (this.#stopped || this.#paused) return;
      const chunk = this.#answer.chunks[this.#next];
      if (chunk === undefined) {
        this.#end();
        return;
      }
      const early = this.#earlyBy(chunk.atUs);
      if (early > 0) {
        this.#timer = setTimeout(() => this.#play(), early);
        return;
      }
      this.#next += 1;
      this.#paused = !this.#sink.data(chunk.bytes);
    }
  }

  #end(): void {
    if (this.over) return;
    this.over = true;
    this.#sink.end(this.#answer.trailers);
  }

  #at(us: number, then: () => void): void {
    const early = this.#earlyBy(us);
    if (early <= 0) then();
    else this.#timer = setTimeout(then, early);
  }

  /** Milliseconds until a moment of the recording comes again. */
  #earlyBy(us: number): number {
    return this.#started === undefined ? 0 : this.#started + us / 1000 - performance.now();
  }
}
