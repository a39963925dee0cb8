import { type JsonObject, objectIn } from '../../../base/json.ts';
import type { IrAnswerEvent, IrPartStart } from '../../../ir/event.ts';
import type { TokenLogprob } from '../../../ir/logprob.ts';
import type { IrPart, VendorMeta } from '../../../ir/part.ts';
import { signatureOf } from '../signature.ts';
import { type Cited, lowerGrounding } from './grounding.ts';
import { lowerLogprobs } from './logprobs.ts';
import { answerPart, finishReason, thoughtPart } from './lower-answer.ts';

interface OpenPart {
  readonly part: IrPartStart;
  /** Arguments so far, as a call is written whole, or the text that citations point into. */
  text: string;
}

type PartEvent = Extract<IrAnswerEvent, { type: 'part-start' | 'part-delta' | 'part-end' }>;
type End = Extract<IrAnswerEvent, { type: 'message-end' }>;

/** Writes the pieces of one candidate as JSON. Text goes out as it comes, calls when they are whole. */
export class CandidateWriter {
  readonly #index: number;
  readonly #open = new Map<number, OpenPart>();
  #malformed = false;
  /** The texts so far, and what they rest on: told with the end. */
  readonly #cited: Cited[] = [];
  /** How many pieces have been written. */
  written = 0;

  constructor(index: number) {
    this.#index = index;
  }

  /** The candidate of a chunk; empty where there is nothing to write yet. */
  part(event: PartEvent): string {
    switch (event.type) {
      case 'part-start':
        this.#open.set(event.index, { part: event.part, text: '' });
        return '';
      case 'part-delta':
        return this.#delta(event.index, event.text, event.logprobs);
      case 'part-end':
        return this.#end(event);
    }
  }

  /** The candidate that says why the answer ended. */
  ending({ finish, meta }: End): JsonObject {
    return {
      content: { parts: [{ text: '' }], role: 'model' },
      finishReason: finishReason(finish, this.#malformed),
      index: this.#index,
      ...lowerGrounding(this.#cited),
      ...objectIn(meta?.gemini?.candidate),
    };
  }

  #delta(index: number, text: string, logprobs: readonly TokenLogprob[] | undefined): string {
    const open = this.#open.get(index);
    switch (open?.part.kind) {
      case 'text':
      case 'refusal':
        open.text += text;
        return this.#piece(`{"text":${JSON.stringify(text)}}`, logprobs);
      case 'thinking':
        return this.#piece(`{"text":${JSON.stringify(text)},"thought":true}`);
      case 'tool-call':
        open.text += text;
        return '';
      default:
        return '';
    }
  }

  #end({ index, meta: endMeta, citations }: Extract<PartEvent, { type: 'part-end' }>): string {
    const open = this.#open.get(index);
    this.#open.delete(index);
    if (open === undefined) return '';
    if (open.part.kind === 'text') this.#cited.push({ text: open.text, citations });
    const part = closed(open, endMeta);
    if (part === undefined) return '';
    const written = part.kind === 'thinking' || part.kind === 'text' ? signedEnd(part) : answerPart(part);
    if (part.kind === 'tool-call' && written === undefined) this.#malformed = true;
    return written === undefined ? '' : this.#piece(JSON.stringify(written));
  }

  #piece(part: string, logprobs?: readonly TokenLogprob[]): string {
    this.written += 1;
    const told = logprobs === undefined ? '' : `,"logprobsResult":${JSON.stringify(lowerLogprobs(logprobs))}`;
    return `{"content":{"parts":[${part}],"role":"model"},"index":${this.#index}${told}}`;
  }
}

/** The part as a whole answer would hold it; state may come with its start or with its end. */
function closed({ part, text }: OpenPart, endMeta: VendorMeta | undefined): IrPart | undefined {
  const startMeta = 'meta' in part ? part.meta : undefined;
  const meta = startMeta === undefined && endMeta === undefined ? {} : { meta: { ...startMeta, ...endMeta } };
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { kind: 'text', text: '', ...meta };
    case 'thinking':
      return { kind: 'thinking', text: '', ...(part.redacted ? { redacted: true } : {}), ...meta };
    case 'tool-call':
      return { kind: 'tool-call', id: part.id, name: part.name, arguments: text, ...meta };
    case 'vendor':
      return { ...part, ...meta };
  }
}

/** The text is out already; what is left to say is the signature, in a part without text. */
function signedEnd(part: Extract<IrPart, { kind: 'text' | 'thinking' }>): JsonObject | undefined {
  const own = part.meta?.gemini;
  if (part.kind === 'text') return own?.thoughtSignature === undefined ? undefined : { text: '', ...own };
  if (own?.text !== undefined) return own;
  const signature = signatureOf(part.meta, part.redacted);
  return signature === undefined ? undefined : thoughtPart('', signature);
}
