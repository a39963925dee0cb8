import { type Json, parseJson } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { AnswerContext, Dialect, Emitter, Observed } from '../../dialects/dialect.ts';
import { EngineFailure } from '../../ir/engine-failure.ts';
import type { IrEvent } from '../../ir/event.ts';
import { Fold, unfold } from '../../ir/fold.ts';
import type { IrError, IrResponse } from '../../ir/response.ts';
import { tokensIn } from '../../ir/token-estimate.ts';
import type { IrUsage } from '../../ir/usage.ts';
import type { AnswerChanges } from '../../mapping/answer-changes.ts';
import { AnswerAccount, type AnswerRecord, NO_RECORD } from '../../mapping/answers/account.ts';
import { AnswerForms } from '../../mapping/answers/forms.ts';
import type { JsonAsked, JsonVerdict } from '../../negotiation/post-processing.ts';
import { FailedAnswer, translationError } from './answer-errors.ts';
import { EngineStream, holdsError, quoted } from './engine-stream.ts';
import { LongTexts } from './long-texts.ts';
import type { PausedTurns } from './paused-turns.ts';
import { observedOf } from './seen-answer.ts';

/** Everything a translator needs: both dialects, the changes on the way, and the caller's names. */
export interface Translation {
  readonly engine: Dialect;
  readonly caller: Dialect;
  readonly filter: AnswerChanges;
  readonly context: AnswerContext;
  /** The answer is a token count. */
  readonly count?: boolean;
}

/** No model writes more into one answer: it is about four million tokens. */
const MOST_WRITTEN = 16 * 1024 * 1024;
/** Beginnings and ends of parts: an answer has dozens of them. */
const MOST_MARKS = 50_000;
const TOO_MUCH_WRITTEN = `The engine wrote more than ${MOST_WRITTEN / 1024 / 1024} MiB, or ${MOST_MARKS} parts, into one answer.`;
/** Bytes of memory that an event takes besides its text while the answer is collected: a part, a call, a citation. */
const EVENT_KEPT = 64;

/** Turns an engine's stream into the caller's, chunk by chunk. */
export class StreamTranslator {
  readonly #engine: Dialect;
  readonly #filter: AnswerChanges;
  readonly #account: AnswerAccount;
  readonly #forms: AnswerForms;
  readonly #turns: PausedTurns | undefined;
  #stream: EngineStream;
  readonly #emitter: Emitter;
  /** Pictures and sounds of the answer, which nobody here reads. */
  readonly #long = new LongTexts();
  readonly #sighting = new Sighting();
  #events = 0;
  #written = 0;
  #marks = 0;

  /** `turns`: the engine may pause, and the pieces of its answer come one after the other. */
  constructor(translation: Translation, turns?: PausedTurns) {
    this.#engine = translation.engine;
    this.#turns = turns;
    this.#filter = translation.filter;
    this.#account = turns?.account ?? new AnswerAccount(translation.engine, translation.caller);
    this.#forms = formsOf(translation, this.#account, translation.caller.answers.cutCalls === 'nowhere');
    this.#stream = this.#open();
    this.#emitter = translation.caller.emitter(translation.context);
  }

  #open(): EngineStream {
    return new EngineStream(this.#engine.stepper(this.#account.event), (body) => this.#engine.liftError(UNTOLD, {}, body), this.#long);
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

  /** Memory that the answer so far may take: dialects that repeat it at the end, and changes that read it as a whole, keep it. */
  get kept(): number {
    return this.#written + this.#marks * EVENT_KEPT + this.#stream.held;
  }

  /** The end of the answer waits until it is known to be the JSON that was asked for, which takes too long to be found out here. */
  get waits(): boolean {
    return this.#filter.open !== undefined;
  }

  /** The end of an answer that waits. */
  async judged(judge: (asked: JsonAsked) => Promise<JsonVerdict>): Promise<string> {
    let text = '';
    try {
      for (let asked = this.#filter.open; asked !== undefined; asked = this.#filter.open)
        text += this.#formed(this.#filter.settle(await judge(asked)));
      return text;
    } catch (thrown) {
      return text + this.spoil(thrown);
    }
  }

  get eventCount(): number {
    return this.#events;
  }

  push(chunk: Buffer): string {
    return this.#write(this.#stream.read(chunk));
  }

  /** The rest of an answer; where it cannot be read, the error that the caller is told instead. */
  rest(): string {
    try {
      return this.end();
    } catch (thrown) {
      return this.spoil(thrown);
    }
  }

  end(): string {
    const text = this.#write(this.#stream.rest());
    return this.done || this.paused || this.waits ? text : text + this.#write(this.#stream.end());
  }

  /** The text as bytes for the caller, with pictures and sounds back in the place of their marks. */
  bytesOf(text: string): Buffer[] {
    return this.#long.bytesOf(text);
  }

  /** The engine waits to be asked to go on. */
  get paused(): boolean {
    return this.#turns?.paused === true;
  }

  /** The request that makes the engine go on; its next stream follows on this one. */
  goOn(): Buffer | undefined {
    this.#stream = this.#open();
    const body = this.#turns?.goOn();
    return body === undefined || this.#long.bytes === 0 ? body : Buffer.concat(this.#long.bytesOf(body.toString('utf8')));
  }

  /** The engine refuses to go on. */
  fail(error: IrError): string {
    return this.#write([{ type: 'error', error }]);
  }

  /** The answer cannot be read on. */
  spoil(thrown: unknown): string {
    return this.fail({ kind: 'server', message: translationError(thrown).message, status: 502 });
  }

  observed(): Observed {
    return this.#sighting.observed();
  }

  /** The record of everything that the engine has told so far. */
  record(headers: readonly string[]): AnswerRecord {
    this.#account.headers(headers);
    for (const { concept, note, as } of this.#filter.notes) this.#account.note(concept, note, as);
    this.#turns?.tell();
    if (this.#sighting.failed) this.#account.lostEnd();
    return this.#account.record();
  }

  #write(events: readonly IrEvent[]): string {
    let text = '';
    for (const event of events) {
      if (this.#sighting.ended) break;
      this.#count(event);
      if (event.type === 'error' || (event.type === 'message-end' && event.finish === 'error')) this.#account.gaveUp();
      const told = this.#told(event);
      if (told?.type === 'message-end') this.#sighting.spent(told.usage);
      if (told !== undefined) text += this.#formed(this.#filter.filter(told));
    }
    return text;
  }

  #formed(events: readonly IrEvent[]): string {
    let text = '';
    for (const event of events) for (const out of this.#forms.filter(event)) text += this.#emit(out);
    return text;
  }

  #count(event: IrEvent): void {
    const told = event.type === 'choice' ? event.event : event;
    if (told.type === 'part-delta') this.#written += told.text.length;
    else if (told.type !== 'keep-alive') this.#marks += 1;
    if (this.#written > MOST_WRITTEN || this.#marks > MOST_MARKS) throw new AbpError('engine_failed', TOO_MUCH_WRITTEN);
  }

  /** The event as it stands in an answer of several pieces. */
  #told(event: IrEvent): IrEvent | undefined {
    if (this.#turns === undefined) return event;
    const told = this.#turns.take(event);
    if (told === undefined && event.type === 'message-start') this.#sighting.begin(this.#turns.begun(event.usage));
    return told;
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

/** Collects what the receipt needs from the events that went to the caller. */
class Sighting {
  readonly #calls = new Map<number, { id: string; name: string; arguments: string }>();
  #model: string | undefined;
  /** Usage that the engine told at the beginning: the only one we have when the caller leaves early. */
  #begun: IrUsage | undefined;
  #end: Extract<IrEvent, { type: 'message-end' }> | undefined;
  #error: string | undefined;
  /** Usage that the engine told at an end which the caller does not see. */
  #spent: IrUsage | undefined;
  /** Characters that the engine has written. */
  #written = 0;

  get ended(): boolean {
    return this.#end !== undefined || this.#error !== undefined;
  }

  get failed(): boolean {
    return this.#error !== undefined;
  }

  spent(usage: IrUsage): void {
    this.#spent = usage;
  }

  /** A further piece of the answer begins; what was used so far is told with it. */
  begin(usage: IrUsage | undefined): void {
    this.#begun = usage;
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
    if (this.#spent !== undefined && this.#spent.inputTokens > 0) return { usage: this.#spent };
    if (this.#begun === undefined) return {};
    // The engine tells what it wrote at the end, which did not come.
    return { usage: { ...this.#begun, outputTokens: Math.max(this.#begun.outputTokens, tokensIn(this.#written)), estimated: true } };
  }

  #grow(index: number, text: string): void {
    const call = this.#calls.get(index);
    if (call !== undefined) call.arguments += text;
  }
}

function formsOf({ engine, caller, filter, context }: Translation, account: AnswerAccount, wholeCalls: boolean): AnswerForms {
  return new AnswerForms({ engine, caller, account, json: filter.json, idSeed: context.runHex, wholeCalls });
}

/** The status that stands for one which the engine did not tell: it answered 200 and put the error into the body. */
const UNTOLD = 502;

/** An answer in the caller's words, and what the receipt says of it. */
export interface TranslatedText {
  readonly text: string;
  readonly observed: Observed;
  readonly record: AnswerRecord;
}

/** Turns an answer in one piece into the caller's. `headers` are those that came with it. */
export function translateWhole(body: Buffer, translation: Translation, headers: readonly string[] = []): TranslatedText {
  const value = answerIn(body, translation);
  if (translation.count === true) return translateCount(value, translation);
  const account = new AnswerAccount(translation.engine, translation.caller);
  account.whole(value);
  account.headers(headers);
  return given(body, { translation, account }, () => written(translation.engine.liftResponse(value), translation, account));
}

interface Reading {
  readonly translation: Translation;
  readonly account: AnswerAccount;
  readonly turns?: PausedTurns;
}

/** The answer, or a failure that says what the engine used for it. */
function given<T>(body: Buffer, { translation, account, turns }: Reading, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof EngineFailure) account.gaveUp();
    account.lost();
    const { model, usage } = translation.engine.observeBody(body.toString('utf8').replace(/^\uFEFF/, ''));
    const used = turns === undefined ? usage : turns.begun(usage);
    const observed: Observed = { ...(model === undefined ? {} : { model }), ...(used === undefined ? {} : { usage: used }), toolCalls: [] };
    throw new FailedAnswer(thrown, { observed, record: account.record() });
  }
}

/** The same where the engine may pause; undefined as long as it waits to be asked to go on. */
export function translatePiece(
  body: Buffer,
  translation: Translation,
  headers: readonly string[],
  turns: PausedTurns,
): TranslatedText | undefined {
  const value = answerIn(body, translation);
  turns.account.whole(value);
  turns.account.headers(headers);
  return given(body, { translation, account: turns.account, turns }, () => {
    const piece = translation.engine.liftResponse(value);
    for (const event of unfold(piece)) turns.take(event);
    if (turns.paused) return undefined;
    turns.tell();
    return written(turns.answer ?? piece, translation, turns.account);
  });
}

/** An answer's value. Throws where its good status belies what it says. */
function answerIn(body: Buffer, { engine }: Translation): Json {
  const said = body.toString('utf8').replace(/^\uFEFF/, '');
  const parsed = parseJson(said);
  if (!parsed.ok) throw new AbpError('engine_failed', `The engine's answer is not JSON but: ${quoted(said)}`);
  if (holdsError(parsed.value)) throw new EngineFailure(engine.liftError(UNTOLD, {}, said));
  return parsed.value;
}

function written(answer: IrResponse, translation: Translation, account: AnswerAccount): TranslatedText {
  const response = changed(answer, translation, account);
  for (const { concept, note, as } of translation.filter.notes) account.note(concept, note, as);
  const text = JSON.stringify(translation.caller.lowerResponse(response, translation.context));
  return { text, observed: observedOf(response), record: account.record() };
}

/** The answer with everything done to it that a stream of it would meet. */
function changed(response: IrResponse, translation: Translation, account: AnswerAccount): IrResponse {
  if (response.finish === 'error') account.gaveUp();
  const forms = formsOf(translation, account, translation.caller.answers.cutCalls !== undefined);
  const fold = new Fold();
  for (const event of unfold(response))
    for (const out of translation.filter.filter(event)) for (const formed of forms.filter(out)) fold.push(formed);
  if (fold.error !== undefined) throw new AbpError('engine_failed', fold.error.message);
  return fold.response() ?? response;
}

function translateCount(body: Json, { engine, caller }: Translation): TranslatedText {
  const count = engine.liftTokenCount(body);
  if (count === undefined) throw new AbpError('engine_failed', 'The engine’s answer holds no token count.');
  return { text: JSON.stringify(caller.tokenCount(count)), observed: { toolCalls: [] }, record: NO_RECORD };
}
