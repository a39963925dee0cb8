import { isJsonObject, type Json, type JsonObject, listIn } from '../../../base/json.ts';
import type { IrAnswerEvent, IrPartStart } from '../../../ir/event.ts';
import type { TokenLogprob } from '../../../ir/logprob.ts';
import type { VendorMeta } from '../../../ir/part.ts';
import { liftGrounding } from './grounding.ts';
import { liftLogprobs } from './logprobs.ts';
import { PartialArgs } from './partial-args.ts';

interface OpenPart {
  readonly index: number;
  readonly kind: 'text' | 'thinking' | 'tool-call';
  /** Arguments so far, of a call that arrives in pieces. */
  readonly args?: PartialArgs;
}

/** Members of a candidate that have a neutral form. */
const CANDIDATE = new Set(['content', 'finishReason', 'index', 'logprobsResult']);
const DESCRIPTIONS = new Set(['thought', 'thoughtSignature', 'partMetadata', 'mediaResolution', 'videoMetadata']);

/** Reads the pieces of one candidate; they are checked by hand, because this runs for every chunk. */
export class CandidateReader {
  #events: IrAnswerEvent[] = [];
  #open: OpenPart | undefined;
  /** Numbers of the parts that are text of the answer. */
  readonly #texts = new Set<number>();
  #idSeed = '';
  #reason: Json | undefined;
  /** The text of the part that is open, which grounding points into. */
  #said = '';
  /** A signature that came with the text and ends it; it waits, because what the text rests on is told last. */
  #seal: IrPartStart | undefined;
  parts = 0;
  calls = 0;
  /** Members that only Gemini has. */
  readonly own: Record<string, Json> = {};

  /** Events of one piece. Ids that the engine does not give are made from the seed. */
  read(candidate: JsonObject, idSeed: string): IrAnswerEvent[] {
    this.#idSeed = idSeed;
    for (const key in candidate) if (!CANDIDATE.has(key)) this.own[key] = candidate[key] ?? null;
    if (candidate.finishReason !== undefined) this.#reason = candidate.finishReason;
    const parts = isJsonObject(candidate.content) ? candidate.content.parts : undefined;
    for (const part of listIn(parts)) if (isJsonObject(part)) this.#part(part);
    if (candidate.logprobsResult !== undefined) this.#logprobs(candidate.logprobsResult);
    return this.#take();
  }

  /** Ends the part that is open. */
  close(): IrAnswerEvent[] {
    this.#close();
    return this.#take();
  }

  /** Why it stopped; undefined while it has not said so. */
  get reason(): string | undefined {
    return this.#reason === undefined ? undefined : String(this.#reason);
  }

  /** They belong to the text they came with; those of a call alone stay with the vendor, as no other wire tells them. */
  #logprobs(result: Json): void {
    const logprobs = liftLogprobs(result);
    if (logprobs === undefined || !this.#tellWithText(logprobs)) this.own.logprobsResult = result;
  }

  #tellWithText(logprobs: readonly TokenLogprob[]): boolean {
    const open = this.#open;
    const at = this.#events.findLastIndex((event) => event.type === 'part-delta' && this.#texts.has(event.index));
    const delta = this.#events[at];
    if (delta?.type === 'part-delta') this.#events[at] = { ...delta, logprobs };
    else if (open?.kind === 'text') this.#events.push({ type: 'part-delta', index: open.index, text: '', logprobs });
    else return false;
    return true;
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
    else this.#sealed({ kind: 'thinking', redacted: true, meta: { gemini: { text: '', thoughtSignature: signature } } });
  }

  #grow(kind: 'text' | 'thinking', text: string): void {
    if (this.#open?.kind !== kind || this.#seal !== undefined) {
      this.#close();
      this.#open = { index: this.#start({ kind }), kind };
      if (kind === 'text') this.#texts.add(this.#open.index);
    }
    if (text === '') return;
    if (kind === 'text') this.#said += text;
    this.#events.push({ type: 'part-delta', index: this.#open.index, text });
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
    const id = typeof given === 'string' && given !== '' ? given : `call_${this.#idSeed}_${this.calls}`;
    this.calls += 1;
    const meta = signature === undefined ? {} : { meta: { gemini: { thoughtSignature: signature } } };
    this.#open = { index: this.#start({ kind: 'tool-call', id, name, ...meta }), kind: 'tool-call', args: new PartialArgs() };
  }

  #closeCall(index: number, text: string): void {
    this.#open = undefined;
    this.#events.push({ type: 'part-delta', index, text }, { type: 'part-end', index });
  }

  #sealed(part: IrPartStart): void {
    if (this.#open?.kind !== 'text') this.#whole(part);
    else this.#seal = part;
  }

  #whole(part: IrPartStart): void {
    this.#close();
    this.#events.push({ type: 'part-end', index: this.#start(part) });
  }

  #start(part: IrPartStart): number {
    const index = this.parts;
    this.parts += 1;
    this.#events.push({ type: 'part-start', index, part });
    return index;
  }

  #close(meta?: VendorMeta): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    if (open.args !== undefined) {
      this.#closeCall(open.index, open.args.json());
      return;
    }
    const citations = open.kind === 'text' ? liftGrounding(this.own.groundingMetadata, this.#said) : {};
    this.#events.push({ type: 'part-end', index: open.index, ...(meta === undefined ? {} : { meta }), ...citations });
    this.#said = '';
    const seal = this.#seal;
    this.#seal = undefined;
    if (seal !== undefined) this.#whole(seal);
  }

  #take(): IrAnswerEvent[] {
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
