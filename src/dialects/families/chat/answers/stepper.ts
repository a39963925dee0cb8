import { listIn, objectIn, parseJson } from '../../../../base/json.ts';
import type { SseEvent } from '../../../../base/sse.ts';
import type { IrAnswerEvent, IrEvent } from '../../../../ir/event.ts';
import type { IrError } from '../../../../ir/response.ts';
import { NO_USAGE } from '../../../../ir/usage.ts';
import type { Seen, Stepper } from '../../../dialect.ts';
import { isCutOff, readAt, unreadable } from '../../../stream-error.ts';
import { choiceError, errorOf, isTold } from '../errors.ts';
import type { ChatFlavour } from '../flavour.ts';
import { isAnswer, liftUsage, UNSAID, withSearches } from '../lift-response.ts';
import * as wire from '../wire.ts';
import { ChoiceReader } from './choice-reader.ts';

/** Reads a Chat stream, each of its choices on its own. Usage may stand in any chunk, also after the end. */
export class ChatStepper implements Stepper {
  readonly #flavour: ChatFlavour;
  readonly #seen: Seen | undefined;
  readonly #first: ChoiceReader;
  /** The further choices, by number. */
  readonly #others = new Map<number, ChoiceReader>();
  #id: string | undefined;
  #started = false;
  #ended = false;
  #usage: wire.Usage | undefined;
  #model: string | undefined;
  #tier: string | undefined;

  constructor(flavour: ChatFlavour, seen?: Seen) {
    this.#flavour = flavour;
    this.#seen = seen;
    this.#first = new ChoiceReader(flavour);
  }

  step(event: SseEvent): IrEvent[] {
    if (this.#ended) return [];
    if (event.data === '[DONE]') return this.#started ? this.#finish() : [];
    const parsed = parseJson(event.data);
    if (!parsed.ok) return isCutOff(event.data) ? this.#fail(unreadable()) : [];
    this.#seen?.(parsed.value);
    const read = readAt(wire.Chunk, parsed.value);
    if ('error' in read) return listIn(objectIn(parsed.value)?.choices).length > 0 ? this.#fail(read.error) : [];
    if (isTold(read.event.error)) return this.#fail(errorOf(200, parsed.value));
    const events = this.#chunk(read.event);
    const failed = choiceError(read.event.choices ?? []);
    return failed === undefined ? events : [...events, ...this.#fail(failed)];
  }

  end(): IrEvent[] {
    if (this.#ended) return [];
    if ([this.#first, ...this.#others.values()].every((reader) => reader.stopped)) return this.#finish();
    this.#ended = true;
    return [{ type: 'error', error: { kind: 'server', message: 'the engine closed the stream early', status: 200 } }];
  }

  #fail(error: IrError): IrEvent[] {
    this.#ended = true;
    return [{ type: 'error', error }];
  }

  #chunk(chunk: wire.Chunk): IrEvent[] {
    const events: IrAnswerEvent[] = [];
    const further: IrEvent[] = [];
    const choices = chunk.choices ?? [];
    if (!this.#started && choices.length > 0) events.push(this.#start(chunk));
    this.#tellUsage(chunk.usage);
    this.#tier = chunk.service_tier ?? this.#tier;
    for (const choice of choices) {
      this.#tellUsage(choice.usage);
      if (isAnswer(choice)) this.#first.read(choice, this.#id, events);
      else further.push(...this.#further(choice));
    }
    return further.length === 0 ? events : [...events, ...further];
  }

  #start(chunk: wire.Chunk): IrAnswerEvent {
    this.#started = true;
    this.#id = chunk.id || undefined;
    this.#model = chunk.model ?? undefined;
    return { type: 'message-start', ...(this.#id === undefined ? {} : { id: this.#id }), ...(chunk.model ? { model: chunk.model } : {}) };
  }

  #further(choice: wire.ChunkChoice): IrEvent[] {
    const number = choice.index ?? 0;
    const known = this.#others.get(number);
    const reader = known ?? new ChoiceReader(this.#flavour);
    this.#others.set(number, reader);
    const events: IrAnswerEvent[] = known === undefined ? [{ type: 'message-start' }] : [];
    // Ids are invented from the answer's; two choices must not invent the same.
    reader.read(choice, this.#id === undefined ? `${number}` : `${this.#id}-${number}`, events);
    return events.map((event) => ({ type: 'choice', choice: number, event }));
  }

  /** Told once more, usage is repeated, not added; some engines tell zeros until the end. */
  #tellUsage(usage: wire.Usage | null | undefined): void {
    if (usage && (this.#usage === undefined || (usage.total_tokens ?? usage.prompt_tokens ?? 0) > 0)) this.#usage = usage;
  }

  #finish(): IrEvent[] {
    if (![this.#first, ...this.#others.values()].some(({ said }) => said)) return this.#fail(UNSAID);
    this.#ended = true;
    const events: IrAnswerEvent[] = [];
    const end = this.#first.end(events);
    const usage = withSearches(liftUsage(this.#usage, this.#tier), this.#first.cited, this.#model);
    return [...events, ...this.#furtherEnds(), { type: 'message-end', ...end, usage }];
  }

  #furtherEnds(): IrEvent[] {
    return [...this.#others].flatMap(([choice, reader]) => {
      const events: IrAnswerEvent[] = [];
      const end = reader.end(events);
      events.push({ type: 'message-end', ...end, usage: NO_USAGE });
      return events.map((event): IrEvent => ({ type: 'choice', choice, event }));
    });
  }
}
