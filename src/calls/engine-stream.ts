import { decodeSse, SseFrames, SseFrameTooLong } from '../base/sse.ts';
import type { Stepper } from '../dialects/dialect.ts';
import type { IrEvent } from '../ir/event.ts';

/** How much is told of an answer that is no stream. */
const MOST_QUOTED = 300;

/** An engine's stream of bytes as events. */
export class EngineStream {
  readonly #frames = new SseFrames();
  readonly #stepper: Stepper;
  #count = 0;
  #broken = false;
  /** How the body began, as long as nothing in it has made sense. */
  #beginning: string | undefined = '';

  constructor(stepper: Stepper) {
    this.#stepper = stepper;
  }

  /** Frames that have come. */
  get count(): number {
    return this.#count;
  }

  /** It cannot be read on: its last event says why, and nothing comes after it. */
  get broken(): boolean {
    return this.#broken;
  }

  /** What these bytes complete. */
  read(chunk: Buffer): IrEvent[] {
    if (this.#broken) return [];
    if (this.#beginning !== undefined && this.#beginning.length < MOST_QUOTED) this.#beginning += chunk.toString('utf8', 0, MOST_QUOTED);
    try {
      return this.#step(this.#frames.push(chunk));
    } catch (error) {
      if (!(error instanceof SseFrameTooLong)) throw error;
      this.#broken = true;
      return [{ type: 'error', error: { kind: 'server', message: error.message, status: 502 } }];
    }
  }

  /** What the engine left unterminated when it ended. */
  rest(): IrEvent[] {
    return this.#broken ? [] : this.#step(this.#frames.flush());
  }

  /** What stands in for an end that did not come. A body that was no stream at all is quoted: it may say what went wrong. */
  end(): readonly IrEvent[] {
    const said = this.#beginning?.replaceAll(/\s+/g, ' ').trim().slice(0, MOST_QUOTED) ?? '';
    if (!/^[<{[]/.test(said)) return this.#stepper.end();
    return [{ type: 'error', error: { kind: 'server', message: `the engine did not answer with a stream: ${said}`, status: 200 } }];
  }

  #step(frames: readonly Buffer[]): IrEvent[] {
    this.#count += frames.length;
    const events: IrEvent[] = [];
    for (const frame of frames) events.push(...this.#stepper.step(decodeSse(frame)));
    if (events.length > 0) this.#beginning = undefined;
    return events;
  }
}
