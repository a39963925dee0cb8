import { isJsonObject, type Json, parseJson } from '../../base/json.ts';
import { decodeSse, isTooMuch, SseFrames, SseFrameTooLong } from '../../base/sse.ts';
import type { Stepper } from '../../dialects/dialect.ts';
import { isCutOff } from '../../dialects/stream-error.ts';
import type { IrEvent } from '../../ir/event.ts';
import type { IrError } from '../../ir/response.ts';
import { LongTexts } from './long-texts.ts';

/** How much is told of an answer that is no stream, … */
const MOST_QUOTED = 300;
/** … and how much of it is read for the error that it may hold. */
const MOST_READ = 16 * 1024;

/** Besides pictures and sounds, which are not read: no vendor's event says as much, and reading it takes some milliseconds. */
const MOST_SAID = 3 * 1024 * 1024;

/** An engine's stream of bytes as events. */
export class EngineStream {
  readonly #frames = new SseFrames();
  /** Pictures and sounds, in whose place the events have marks. */
  readonly long: LongTexts;
  readonly #stepper: Stepper;
  readonly #liftError: ((body: string) => IrError) | undefined;
  #count = 0;
  #broken = false;
  /** How the body began, as long as nothing in it has made sense. */
  #beginning: string | undefined = '';

  /** `liftError` reads an error body of the engine; `long` holds what streams of the same answer have in common. */
  constructor(stepper: Stepper, liftError?: (body: string) => IrError, long = new LongTexts()) {
    this.long = long;
    this.#stepper = stepper;
    this.#liftError = liftError;
  }

  /** Bytes that are held: of an event that has not come to its end, and of pictures. */
  get held(): number {
    return this.#frames.held + this.long.bytes;
  }

  /** Frames that have come. */
  get count(): number {
    return this.#count;
  }

  /** It cannot be read on: its last event says why, and nothing comes after it. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Events that these bytes complete; the rest waits for the next chunk. */
  read(chunk: Buffer): IrEvent[] {
    if (this.#broken) return [];
    if (this.#beginning !== undefined && this.#beginning.length < MOST_READ) this.#beginning += chunk.toString('utf8', 0, MOST_READ);
    try {
      return this.#step(this.#frames.push(chunk));
    } catch (error) {
      if (!(error instanceof SseFrameTooLong)) throw error;
      return [this.#giveUp(error.message)];
    }
  }

  #giveUp(message: string): IrEvent {
    this.#broken = true;
    return { type: 'error', error: { kind: 'server', message, status: 502 } };
  }

  /** Events in the bytes that the engine left unterminated when it ended. One that stops in the middle is told as the end of them all. */
  rest(): IrEvent[] {
    return this.#broken ? [] : this.#step(this.#frames.flush().filter((frame) => !isCut(decodeSse(frame).data)));
  }

  /**
   * The error event that we give the caller when the engine's end did not come. It quotes a body that was no stream at all, which may say
   * what went wrong.
   */
  end(): readonly IrEvent[] {
    const said = this.#beginning?.trim() ?? '';
    if (!/^[<{[]/.test(said)) return this.#stepper.end();
    const parsed = parseJson(said);
    if (parsed.ok && holdsError(parsed.value) && this.#liftError !== undefined) return [{ type: 'error', error: this.#liftError(said) }];
    return [{ type: 'error', error: { kind: 'server', message: `the engine did not answer with a stream: ${quoted(said)}`, status: 200 } }];
  }

  #step(frames: readonly Buffer[]): IrEvent[] {
    this.#count += frames.length;
    const events: IrEvent[] = [];
    for (const whole of frames) {
      const frame = this.long.take(whole);
      if (frame.length > MOST_SAID) return [...events, this.#giveUp(`an event of the stream says more than ${MOST_SAID} bytes`)];
      if (isTooMuch(frame)) return [...events, this.#giveUp('an event of the stream holds too many values')];
      for (const event of this.#stepper.step(decodeSse(frame))) events.push(event);
    }
    if (events.length > 0) this.#beginning = undefined;
    return events;
  }
}

function isCut(data: string): boolean {
  return isCutOff(data) && !parseJson(data).ok;
}

/** Whether a body is an error although its status is good. */
export function holdsError(body: Json): boolean {
  const one = Array.isArray(body) ? (body as readonly Json[])[0] : body; // Array.isArray widens
  if (!isJsonObject(one) || ANSWERS.some((key) => one[key] !== undefined)) return false;
  return isJsonObject(one.error) || (typeof one.error === 'string' && one.error !== '');
}

/** Members that only answers have, in one dialect or another. */
const ANSWERS = ['choices', 'content', 'output', 'candidates', 'usageMetadata'];

/** The beginning of a text in one line. */
export function quoted(text: string): string {
  return text.slice(0, MOST_READ).replaceAll(/\s+/g, ' ').trim().slice(0, MOST_QUOTED);
}
