import { type Json, parseJson } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { FidelityEntry } from '../../contract/negotiation.ts';
import type { AnswerContext, Dialect, Emitter, Observed } from '../../dialects/dialect.ts';
import { EngineFailure } from '../../ir/engine-failure.ts';
import type { IrEvent } from '../../ir/event.ts';
import { Fold, unfold } from '../../ir/fold.ts';
import type { IrResponse } from '../../ir/response.ts';
import { tokensIn } from '../../ir/token-estimate.ts';
import type { IrUsage } from '../../ir/usage.ts';
import type { AnswerChanges } from '../../mapping/answer-changes.ts';
import { AnswerAccount } from '../../mapping/answers/account.ts';
import { AnswerForms } from '../../mapping/answers/forms.ts';
import { EngineStream, holdsError, quoted } from './engine-stream.ts';
import { observedOf } from './observed.ts';

/** What a translator needs: both dialects, the changes on the way, and the caller's names. */
export interface Translation {
  readonly engine: Dialect;
  readonly caller: Dialect;
  readonly filter: AnswerChanges;
  readonly context: AnswerContext;
  /** The answer is a token count. */
  readonly count?: boolean;
}

/** Turns an engine's stream into the caller's, chunk by chunk. */
export class StreamTranslator {
  readonly #filter: AnswerChanges;
  readonly #account: AnswerAccount;
  readonly #forms: AnswerForms;
  readonly #stream: EngineStream;
  readonly #emitter: Emitter;
  readonly #sighting = new Sighting();
  #events = 0;

  constructor(translation: Translation) {
    this.#filter = translation.filter;
    this.#account = new AnswerAccount(translation.engine, translation.caller);
    this.#forms = formsOf(translation, this.#account);
    const { engine } = translation;
    this.#stream = new EngineStream(engine.stepper(this.#account.event), (body) => engine.liftError(UNTOLD, {}, body));
    this.#emitter = translation.caller.emitter(translation.context);
  }

  get contentType(): string {
    return this.#emitter.contentType;
  }

  /** The answer is complete, whatever else the engine sends. */
  get done(): boolean {
    return this.#sighting.ended || this.#filter.done;
  }

  /** The engine's stream cannot be read on; the caller has been told. */
  get broken(): boolean {
    return this.#stream.broken;
  }

  get eventCount(): number {
    return this.#events;
  }

  push(chunk: Buffer): string {
    return this.#write(this.#stream.read(chunk));
  }

  end(): string {
    const text = this.#write(this.#stream.rest());
    return this.done ? text : text + this.#write(this.#stream.end());
  }

  observed(): Observed {
    return this.#sighting.observed();
  }

  /** What became of everything that the engine has told. */
  fidelity(headers: readonly string[]): FidelityEntry[] {
    this.#account.headers(headers);
    for (const { concept, note } of this.#filter.notes) this.#account.note(concept, note);
    return this.#account.entries();
  }

  #write(events: readonly IrEvent[]): string {
    let text = '';
    for (const event of events) {
      if (this.#sighting.ended) break;
      for (const changed of this.#filter.filter(event)) for (const out of this.#forms.filter(changed)) text += this.#emit(out);
    }
    return text;
  }

  #emit(event: IrEvent): string {
    this.#sighting.see(event);
    const written = this.#emitter.emit(event);
    this.#events += countEvents(written);
    return written;
  }
}

/** Events end in a blank line, with LF or CRLF throughout; a comment that keeps the connection alive is none. */
function countEvents(text: string): number {
  const blank = text.endsWith('\r\n') ? '\r\n\r\n' : '\n\n';
  let count = 0;
  for (let start = 0, end = text.indexOf(blank); end !== -1; start = end + blank.length, end = text.indexOf(blank, start)) {
    if (text[start] !== ':') count += 1;
  }
  return count;
}

/** Arguments are kept until the answer ends, for their digests. */
const MOST_ARGUMENTS = 16 * 1024 * 1024;

/** Collects what the receipt needs from the events that went to the caller. */
class Sighting {
  readonly #calls = new Map<number, { id: string; name: string; arguments: string }>();
  #model: string | undefined;
  /** What the beginning said: all there is when the caller leaves early. */
  #begun: IrUsage | undefined;
  #end: Extract<IrEvent, { type: 'message-end' }> | undefined;
  #error: string | undefined;
  /** Characters that the engine has written, and those of them in arguments of tool calls. */
  #written = 0;
  #argued = 0;

  get ended(): boolean {
    return this.#end !== undefined || this.#error !== undefined;
  }

  see(event: IrEvent): void {
    switch (event.type) {
      case 'message-start':
        this.#model = event.model;
        this.#begun = event.usage;
        break;
      case 'part-start':
        if (event.part.kind === 'tool-call') this.#calls.set(event.index, { id: event.part.id, name: event.part.name, arguments: '' });
        break;
      case 'part-delta':
        this.#written += event.text.length;
        this.#grow(event.index, event.text);
        break;
      case 'message-end':
        this.#end = event;
        break;
      case 'error':
        this.#error = event.error.message;
        break;
      default:
    }
  }

  observed(): Observed {
    return {
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...this.#settled(),
      toolCalls: [...this.#calls.values()].map((call) => ({ ...call, arguments: call.arguments === '' ? '{}' : call.arguments })),
      ...(this.#error === undefined ? {} : { error: this.#error }),
    };
  }

  #settled(): Pick<Observed, 'usage' | 'finish'> {
    if (this.#end !== undefined) return { usage: this.#end.usage, finish: this.#end.finish };
    if (this.#begun === undefined) return {};
    // The engine tells what it wrote at the end, which did not come.
    return { usage: { ...this.#begun, outputTokens: Math.max(this.#begun.outputTokens, tokensIn(this.#written)), estimated: true } };
  }

  #grow(index: number, text: string): void {
    const call = this.#calls.get(index);
    if (call === undefined) return;
    this.#argued += text.length;
    if (this.#argued > MOST_ARGUMENTS) throw new AbpError('engine_failed', 'The arguments of the tool calls in the answer do not end.');
    call.arguments += text;
  }
}

function formsOf({ engine, caller, filter, context }: Translation, account: AnswerAccount): AnswerForms {
  return new AnswerForms({ engine, caller, account, json: filter.json, idSeed: context.runHex });
}

/** The status that stands for one which the engine did not tell: it answered 200 and put the error into the body. */
const UNTOLD = 502;

/** An answer in the caller's words, and what the receipt says of it. */
export interface TranslatedText {
  readonly text: string;
  readonly observed: Observed;
  readonly fidelity: readonly FidelityEntry[];
}

/** Turns an answer in one piece into the caller's. `headers` are those that came with it. */
export function translateWhole(body: Buffer, translation: Translation, headers: readonly string[] = []): TranslatedText {
  const said = body.toString('utf8').replace(/^\uFEFF/, '');
  const parsed = parseJson(said);
  if (!parsed.ok) throw new AbpError('engine_failed', `The engine's answer is not JSON but: ${quoted(said)}`);
  if (holdsError(parsed.value)) throw new EngineFailure(translation.engine.liftError(UNTOLD, {}, said));
  if (translation.count === true) return translateCount(parsed.value, translation);
  const account = new AnswerAccount(translation.engine, translation.caller);
  account.whole(parsed.value);
  account.headers(headers);
  const response = changed(translation.engine.liftResponse(parsed.value), translation, account);
  for (const { concept, note } of translation.filter.notes) account.note(concept, note);
  const text = JSON.stringify(translation.caller.lowerResponse(response, translation.context));
  return { text, observed: observedOf(response), fidelity: account.entries() };
}

/** The answer with everything done to it that a stream of it would meet. */
function changed(response: IrResponse, translation: Translation, account: AnswerAccount): IrResponse {
  const forms = formsOf(translation, account);
  const fold = new Fold();
  for (const event of unfold(response))
    for (const out of translation.filter.filter(event)) for (const formed of forms.filter(out)) fold.push(formed);
  if (fold.error !== undefined) throw new AbpError('engine_failed', fold.error.message);
  return fold.response() ?? response;
}

function translateCount(body: Json, { engine, caller }: Translation): TranslatedText {
  const count = engine.liftTokenCount(body);
  if (count === undefined) throw new AbpError('engine_failed', 'The engine’s answer holds no token count.');
  return { text: JSON.stringify(caller.tokenCount(count)), observed: { toolCalls: [] }, fidelity: [] };
}
