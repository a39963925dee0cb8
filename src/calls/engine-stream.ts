import { decodeSse, SseFrames, SseFrameTooLong } from '../base/sse.ts';
import type { Stepper } from '../dialects/dialect.ts';
import type { IrEvent } from '../ir/event.ts';

/** An engine's stream of bytes as events. */
export class EngineStream {
  readonly #frames = new SseFrames();
  readonly #stepper: Stepper;
  #count = 0;
  #broken = false;

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

  /** What stands in for an end that did not come. */
  end(): readonly IrEvent[] {
    return this.#stepper.end();
  }

  #step(frames: readonly Buffer[]): IrEvent[] {
    this.#count += frames.length;
    const events: IrEvent[] = [];
    for (const frame of frames) events.push(...this.#stepper.step(decodeSse(frame)));
    return events;
  }
}
