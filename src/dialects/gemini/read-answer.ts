import { sha256 } from '../../base/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { IrEvent, IrPartStart } from '../../ir/event.ts';
import type { VendorMeta } from '../../ir/part.ts';
import type { FinishReason, IrError } from '../../ir/response.ts';
import type { IrUsage } from '../../ir/usage.ts';
import { errorOf } from './errors.ts';
import { FAILURES, FINISH, liftUsage } from './finish.ts';
import { PartialArgs } from './partial-args.ts';

interface OpenPart {
  readonly index: number;
  readonly kind: 'text' | 'thinking' | 'tool-call';
  /** Arguments so far, of a call that arrives in pieces. */
  readonly args?: PartialArgs;
}

/** Members of an answer that have a neutral form. */
const ANSWER = new Set(['candidates', 'usageMetadata', 'modelVersion', 'responseId']);
const CANDIDATE = new Set(['content', 'finishReason', 'index']);
const DESCRIPTIONS = new Set(['thought', 'thoughtSignature', 'partMetadata', 'mediaResolution', 'videoMetadata']);

/**
 * Reads an answer chunk by chunk; a whole answer is one chunk. Parts are pieces to append, usage is cumulative, and the end of the
 * body is the end of the answer. Chunks are checked by hand: this runs for every one of them.
 */
export class AnswerReader {
  #events: IrEvent[] = [];
  #open: OpenPart | undefined;
  #parts = 0;
  #calls = 0;
  #started = false;
  #ended = false;
  #idSeed = '';
  #usage: JsonObject | undefined;
  #reason: Json | undefined;
  #blocked = false;
  #candidate: Record<string, Json> = {};
  #others: Record<string, Json> = {};

  /** Events of one chunk, or of a list of them. */
  read(chunk: Json): IrEvent[] {
    if (Array.isArray(chunk)) return chunk.flatMap((one: Json) => this.read(one));
    if (this.#ended || !isJsonObject(chunk)) return [];
    if (isJsonObject(chunk.error)) return this.#fail(errorOf(chunk, 200));
    this.#frame(chunk);
    const candidate = Array.isArray(chunk.candidates) ? firstOf(chunk.candidates) : undefined;
    if (candidate !== undefined) this.#read(candidate);
    return this.#take();
  }

  /** The body is over. A stream that never said why it stopped was cut; a whole answer was not. */
  end(whole = false): IrEvent[] {
    if (this.#ended) return [];
    if (!this.stopped && !(whole && this.#parts > 0)) return this.#fail(broken('the engine closed the stream early'));
    this.#close();
    const reason = String(this.#reason ?? '');
    if (FAILURES.has(reason) && this.#calls === 0) return this.#fail(broken(failureWords(reason, this.#candidate.finishMessage)));
    this.#ended = true;
    this.#events.push({ type: 'message-end', finish: this.#finish(reason), usage: this.usage, ...this.#meta(reason) });
    return this.#take();
  }

  /** The answer said why it stopped. */
  get stopped(): boolean {
    return this.#reason !== undefined || this.#blocked;
  }

  get hasUsage(): boolean {
    return this.#usage !== undefined;
  }

  get usage(): IrUsage {
    return liftUsage(this.#usage, this.#candidate.groundingMetadata);
  }

  #frame(chunk: JsonObject): void {
    const usage = chunk.usageMetadata;
    if (isJsonObject(usage) && (this.#usage === undefined || usage.promptTokenCount !== undefined)) this.#usage = usage;
    for (const key in chunk) if (!ANSWER.has(key)) this.#others[key] = chunk[key] ?? null;
    if (isJsonObject(chunk.promptFeedback) && chunk.promptFeedback.blockReason !== undefined) this.#blocked = true;
    if (this.#started) return;
    this.#started = true;
    const { responseId: id, modelVersion: model } = chunk;
    this.#idSeed = typeof id === 'string' ? id : sha256(JSON.stringify(chunk)).slice(0, 24);
    this.#events.push({
      type: 'message-start',
      ...(typeof id === 'string' ? { id } : {}),
      ...(typeof model === 'string' ? { model } : {}),
      ...(this.#usage === undefined ? {} : { usage: this.usage }),
    });
  }

  #read(candidate: JsonObject): void {
    for (const key in candidate) if (!CANDIDATE.has(key)) this.#candidate[key] = candidate[key] ?? null;
    if (candidate.finishReason !== undefined) this.#reason = candidate.finishReason;
    const parts = isJsonObject(candidate.content) ? candidate.content.parts : undefined;
    if (!Array.isArray(parts)) return;
    for (const part of parts as readonly Json[]) if (isJsonObject(part)) this.#part(part); // Array.isArray widens
  }

  #part(part: JsonObject): void {
    const signature = typeof part.thoughtSignature === 'string' ? part.thoughtSignature : undefined;
    const type = dataOf(part);
    if (isJsonObject(part.functionCall)) this.#functionCall(part.functionCall, signature);
    else if (type === 'text') this.#text(String(part.text ?? ''), part.thought === true ? 'thinking' : 'text', signature);
    else this.#whole({ kind: 'vendor', dialect: 'gemini', type, meta: { gemini: part } });
  }

  /** A signature ends its part. One that comes with text of the answer belongs to the whole turn and becomes a part of its own. */
  #text(text: string, kind: 'text' | 'thinking', signature: string | undefined): void {
    if (text !== '' || (signature !== undefined && kind === 'thinking')) this.#grow(kind, text);
    if (signature === undefined) return;
    if (kind === 'thinking') this.#close({ gemini: { thoughtSignature: signature } });
    else this.#whole({ kind: 'thinking', redacted: true, meta: { gemini: { text: '', thoughtSignature: signature } } });
  }

  #grow(kind: 'text' | 'thinking', text: string): void {
    if (this.#open?.kind !== kind) {
      this.#close();
      this.#open = { index: this.#start({ kind }), kind };
    }
    if (text !== '') this.#events.push({ type: 'part-delta', index: this.#open.index, text });
  }

  /** A call comes whole, or (`willContinue`) as a name, then pieces of arguments, then an empty call. */
  #functionCall(call: JsonObject, signature: string | undefined): void {
    if (typeof call.name === 'string') this.#openCall(call.name, call.id, signature);
    const open = this.#open;
    if (open?.args === undefined) return;
    open.args.add(call.partialArgs);
    if (call.willContinue === true) return;
    if (isJsonObject(call.args)) this.#closeCall(open.index, JSON.stringify(call.args));
    else this.#close();
  }

  #openCall(name: string, given: Json | undefined, signature: string | undefined): void {
    this.#close();
    const id = typeof given === 'string' && given !== '' ? given : `call_${this.#idSeed}_${this.#calls}`;
    this.#calls += 1;
    const meta = signature === undefined ? {} : { meta: { gemini: { thoughtSignature: signature } } };
    this.#open = { index: this.#start({ kind: 'tool-call', id, name, ...meta }), kind: 'tool-call', args: new PartialArgs() };
  }

  #closeCall(index: number, text: string): void {
    this.#open = undefined;
    this.#events.push({ type: 'part-delta', index, text }, { type: 'part-end', index });
  }

  #whole(part: IrPartStart): void {
    this.#close();
    this.#events.push({ type: 'part-end', index: this.#start(part) });
  }

  #start(part: IrPartStart): number {
    const index = this.#parts;
    this.#parts += 1;
    this.#events.push({ type: 'part-start', index, part });
    return index;
  }

  #close(meta?: VendorMeta): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    if (open.args === undefined) this.#events.push({ type: 'part-end', index: open.index, ...(meta === undefined ? {} : { meta }) });
    else this.#closeCall(open.index, open.args.json());
  }

  #finish(reason: string): FinishReason {
    if (this.#calls > 0) return 'tool-calls';
    return this.#blocked ? 'content-filter' : (FINISH[reason] ?? 'stop');
  }

  /** What of the answer only Gemini has: grounding, ratings, logprobs; and which filter it was. */
  #meta(reason: string): { meta?: VendorMeta } {
    const candidate = FINISH[reason] === 'content-filter' ? { finishReason: reason, ...this.#candidate } : this.#candidate;
    const own = { ...this.#others, ...(Object.keys(candidate).length === 0 ? {} : { candidate }) };
    return Object.keys(own).length === 0 ? {} : { meta: { gemini: own } };
  }

  #fail(error: IrError): IrEvent[] {
    this.#ended = true;
    this.#events.push({ type: 'error', error });
    return this.#take();
  }

  #take(): IrEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/** The member that says what a part is; one with a signature alone is an empty text. */
function dataOf(part: JsonObject): string {
  if (part.text !== undefined) return 'text';
  for (const key in part) if (!DESCRIPTIONS.has(key)) return key;
  return 'text';
}

/** The IR holds one answer. A candidate without an index is the first. */
function firstOf(candidates: readonly Json[]): JsonObject | undefined {
  const first = candidates.find((candidate) => isJsonObject(candidate) && (candidate.index === undefined || candidate.index === 0));
  return isJsonObject(first) ? first : undefined;
}

function broken(message: string): IrError {
  return { kind: 'server', message, status: 200 };
}

function failureWords(reason: string, message: Json | undefined): string {
  return `Gemini gave no answer (${reason})${typeof message === 'string' ? `: ${message}` : ''}`;
}
