import { type JsonObject, parseJson } from '../../base/json.ts';
import type { SseEvent } from '../../base/sse.ts';
import type { IrEvent, IrPartStart } from '../../ir/event.ts';
import type { IrPart, VendorMeta } from '../../ir/part.ts';
import type { IrUsage } from '../../ir/usage.ts';
import type { AnswerContext, Emitter, Stepper } from '../dialect.ts';
import { compact } from '../members.ts';
import { lowerError } from './errors.ts';
import { lowerUsage } from './finish.ts';
import { answerPart, finishReason, thoughtPart } from './lower-answer.ts';
import { AnswerReader } from './read-answer.ts';
import { signatureOf } from './signature.ts';

/** Reads a stream; every event is a chunk of the answer. */
export function stepper(): Stepper {
  const reader = new AnswerReader();
  return {
    step: (event: SseEvent) => {
      const parsed = parseJson(event.data);
      return parsed.ok ? reader.read(parsed.value) : [];
    },
    end: () => reader.end(),
  };
}

interface OpenPart {
  readonly part: IrPartStart;
  /** Arguments so far: a call is written whole. */
  text: string;
}

/** Writes a stream: with `alt=sse` as events, else as one JSON array that grows. Text goes out as it comes, calls when they are whole. */
class ChunkEmitter implements Emitter {
  readonly contentType: string;
  readonly #sse: boolean;
  readonly #context: AnswerContext;
  readonly #open = new Map<number, OpenPart>();
  /** Members that every chunk ends with; fixed once the answer has begun. */
  #tail = '';
  #id: string;
  #first = true;
  #parts = 0;
  #malformed = false;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#id = context.runHex;
    this.#sse = /[?&]alt=sse(?:&|$)/.test(context.query);
    this.contentType = this.#sse ? 'text/event-stream' : 'application/json; charset=UTF-8';
    this.#tail = this.#tailOf(undefined);
  }

  emit(event: IrEvent): string {
    switch (event.type) {
      case 'message-start':
        this.#id = event.id ?? this.#id;
        this.#tail = this.#tailOf(event.usage);
        return '';
      case 'part-start':
        this.#open.set(event.index, { part: event.part, text: '' });
        return '';
      case 'part-delta':
        return this.#delta(event.index, event.text);
      case 'part-end':
        return this.#end(event.index, event.meta);
      case 'message-end':
        return this.#frame(this.#last(event)) + this.#close();
      case 'error':
        return this.#frame(JSON.stringify(lowerError(event.error).body)) + this.#close();
      case 'keep-alive':
        return '';
    }
  }

  #delta(index: number, text: string): string {
    const open = this.#open.get(index);
    switch (open?.part.kind) {
      case 'text':
      case 'refusal':
        return this.#chunk(`{"text":${JSON.stringify(text)}}`);
      case 'thinking':
        return this.#chunk(`{"text":${JSON.stringify(text)},"thought":true}`);
      case 'tool-call':
        open.text += text;
        return '';
      default:
        return '';
    }
  }

  #end(index: number, endMeta: VendorMeta | undefined): string {
    const open = this.#open.get(index);
    this.#open.delete(index);
    if (open === undefined) return '';
    const part = closed(open, endMeta);
    if (part === undefined) return '';
    const written = part.kind === 'thinking' || part.kind === 'text' ? signedEnd(part) : answerPart(part);
    if (part.kind === 'tool-call' && written === undefined) this.#malformed = true;
    return written === undefined ? '' : this.#chunk(JSON.stringify(written));
  }

  #last(event: Extract<IrEvent, { type: 'message-end' }>): string {
    const { candidate, ...others } = event.meta?.gemini ?? {};
    const blocked = others.promptFeedback !== undefined && this.#parts === 0;
    const ended = {
      content: { parts: [{ text: '' }], role: 'model' },
      finishReason: finishReason(event.finish, this.#malformed),
      index: 0,
      ...(candidate as JsonObject | undefined), // the reader put an object there
    };
    return JSON.stringify(
      compact({
        candidates: blocked ? undefined : [ended],
        usageMetadata: lowerUsage(event.usage),
        modelVersion: this.#context.model,
        responseId: this.#id,
        ...others,
      }),
    );
  }

  #chunk(part: string): string {
    this.#parts += 1;
    return this.#frame(`{"candidates":[{"content":{"parts":[${part}],"role":"model"},"index":0}]${this.#tail}`);
  }

  #tailOf(usage: IrUsage | undefined): string {
    const told = usage === undefined ? '' : `,"usageMetadata":${JSON.stringify(lowerUsage(usage))}`;
    return `${told},"modelVersion":${JSON.stringify(this.#context.model)},"responseId":${JSON.stringify(this.#id)}}`;
  }

  #frame(json: string): string {
    if (this.#sse) return `data: ${json}\r\n\r\n`;
    const before = this.#first ? '[' : ',\r\n';
    this.#first = false;
    return `${before}${json}`;
  }

  #close(): string {
    return this.#sse ? '' : ']';
  }
}

export function emitter(context: AnswerContext): Emitter {
  return new ChunkEmitter(context);
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
