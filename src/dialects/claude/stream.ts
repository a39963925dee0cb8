import { type Json, type JsonObject, jsonOf, listIn, objectIn, parseJson } from '../../base/json.ts';
import { encodeSse, type SseEvent } from '../../base/sse.ts';
import { foreignMeta } from '../../ir/carrier.ts';
import type { IrEvent, IrPartStart } from '../../ir/event.ts';
import type { VendorMeta } from '../../ir/part.ts';
import type { FinishReason, IrError } from '../../ir/response.ts';
import { type IrUsage, NO_USAGE } from '../../ir/usage.ts';
import type { AnswerContext, Emitter, Seen, Stepper } from '../dialect.ts';
import { isCutOff, readAt, unreadable, withErrorObject, withErrorType } from '../stream-error.ts';
import { liftCitations, lowerCitations } from './citations.ts';
import { errorKind, errorObject } from './errors.ts';
import { FINISH, liftUsage } from './lift.ts';
import { callMeta } from './lift-content.ts';
import { lowerUsage, redactedBlock, STOP_REASON, signatureOf } from './lower.ts';
import * as wire from './wire.ts';

/** Reads a Messages stream. `message_delta` usage is cumulative and later values win; `message_start` only has a placeholder for output. */
class MessagesStepper implements Stepper {
  readonly #seen: Seen | undefined;
  readonly #signatures = new Map<number, string>();
  /** Citations of each block that has some, and how long its text is. */
  readonly #cited = new Map<number, Json[]>();
  readonly #lengths = new Map<number, number>();
  /** Blocks that only this vendor has, which are told once they are whole. */
  readonly #own = new Map<number, Record<string, Json>>();
  #told: wire.Usage = {};
  #finish: FinishReason = 'stop';
  #stopSequence: string | undefined;
  #ended = false;

  constructor(seen: Seen | undefined) {
    this.#seen = seen;
  }

  step(event: SseEvent): IrEvent[] {
    const parsed = parseJson(event.data);
    if (!parsed.ok) return isCutOff(event.data) && !this.#ended ? this.#fail(unreadable()) : [];
    const value = withErrorObject(withErrorType(parsed.value));
    this.#seen?.(value);
    if (this.#ended) return [];
    if (!wire.EVENTS.has(String(objectIn(value)?.type))) return [];
    const read = readAt(wire.StreamEvent, value);
    return 'error' in read ? this.#fail(read.error) : this.#handle(read.event);
  }

  end(): IrEvent[] {
    return this.#ended ? [] : [{ type: 'error', error: { kind: 'server', message: 'the engine closed the stream early', status: 200 } }];
  }

  #handle(event: wire.StreamEvent): IrEvent[] {
    switch (event.type) {
      case 'message_start':
        return [{ type: 'message-start', id: event.message.id, model: event.message.model, usage: this.#usage(event.message.usage) }];
      case 'content_block_start':
        return this.#start(event.index, event.content_block);
      case 'content_block_delta':
        return this.#delta(event.index, event.delta);
      case 'content_block_stop':
        return this.#stop(event.index);
      case 'message_delta':
        this.#usage(event.usage);
        this.#finish = FINISH[event.delta.stop_reason ?? ''] ?? this.#finish;
        this.#stopSequence = event.delta.stop_sequence ?? undefined;
        return [];
      case 'message_stop':
        return this.#end();
      case 'ping':
        return [{ type: 'keep-alive' }];
      case 'error':
        return this.#fail({ kind: errorKind(event.error.type), message: event.error.message ?? 'engine error', status: 200 });
    }
  }

  #start(index: number, block: wire.AnyBlock): IrEvent[] {
    const part = startOf(block);
    if (part.kind === 'vendor' && !block.type.endsWith('tool_use')) {
      this.#own.set(index, { ...jsonOf(block) });
      return [];
    }
    return [{ type: 'part-start', index, part }, ...seed(index, block)];
  }

  #delta(index: number, delta: { readonly type: string; readonly [key: string]: unknown }): IrEvent[] {
    const own = this.#own.get(index);
    if (own !== undefined) {
      growBy(own, jsonOf(delta));
      return [];
    }
    if (delta.type === 'signature_delta') {
      this.#signatures.set(index, (this.#signatures.get(index) ?? '') + String(delta.signature ?? ''));
      return [];
    }
    if (delta.type === 'citations_delta') this.#cited.set(index, [...(this.#cited.get(index) ?? []), (delta.citation ?? null) as Json]); // parsed JSON
    const text = delta[DELTA_TEXT[delta.type] ?? ''];
    if (delta.type === 'text_delta' && typeof text === 'string') this.#lengths.set(index, (this.#lengths.get(index) ?? 0) + text.length);
    return typeof text === 'string' && text !== '' ? [{ type: 'part-delta', index, text }] : [];
  }

  #stop(index: number): IrEvent[] {
    const own = this.#own.get(index);
    this.#own.delete(index);
    const begun: IrEvent[] =
      own === undefined
        ? []
        : [{ type: 'part-start', index, part: { kind: 'vendor', dialect: 'claude', type: String(own.type), meta: { claude: own } } }];
    return [...begun, this.#ending(index)];
  }

  #ending(index: number): IrEvent {
    const citations = this.#cited.get(index);
    if (citations === undefined) return { type: 'part-end', index, ...signatureMeta(this.#signatures.get(index)) };
    return { type: 'part-end', index, meta: { claude: { citations } }, ...liftCitations(citations, this.#lengths.get(index) ?? 0) };
  }

  #usage(next: wire.Usage | null | undefined): IrUsage {
    for (const [key, value] of Object.entries(next ?? {}))
      if (value !== null && value !== undefined) this.#told = { ...this.#told, [key]: value };
    return liftUsage(this.#told);
  }

  #fail(error: IrError): IrEvent[] {
    this.#ended = true;
    return [{ type: 'error', error }];
  }

  #end(): IrEvent[] {
    this.#ended = true;
    const whole = [...this.#own.keys()].flatMap((index) => this.#stop(index));
    const stop = this.#stopSequence === undefined ? {} : { stopSequence: this.#stopSequence };
    return [...whole, { type: 'message-end', finish: this.#finish, ...stop, usage: liftUsage(this.#told) }];
  }
}

const DELTA_TEXT: Readonly<Record<string, string>> = { text_delta: 'text', input_json_delta: 'partial_json', thinking_delta: 'thinking' };

/** A piece of a block that only this vendor has: the summary of a compaction comes so. */
function growBy(block: Record<string, Json>, { type: _kind, ...members }: JsonObject): void {
  for (const [name, value] of Object.entries(members)) {
    const before = block[name];
    block[name] = typeof before === 'string' && typeof value === 'string' ? before + value : value;
  }
}

export function stepper(seen?: Seen): Stepper {
  return new MessagesStepper(seen);
}

function startOf(block: wire.AnyBlock): IrPartStart {
  switch (block.type) {
    case 'text':
      return { kind: 'text' };
    case 'thinking':
      return { kind: 'thinking' };
    case 'redacted_thinking':
      return { kind: 'thinking', redacted: true, meta: { claude: { data: block.data as Json } } }; // parsed JSON
    case 'tool_use':
      return { kind: 'tool-call', id: String(block.id), name: String(block.name), ...callMeta(block) };
    default:
      return { kind: 'vendor', dialect: 'claude', type: block.type, meta: { claude: jsonOf(block) } };
  }
}

/** Text that some engines already put into the opening block. */
function seed(index: number, block: wire.AnyBlock): IrEvent[] {
  const text = block.type === 'text' ? block.text : block.type === 'thinking' ? block.thinking : undefined;
  return typeof text === 'string' && text !== '' ? [{ type: 'part-delta', index, text }] : [];
}

function signatureMeta(signature: string | undefined): { meta?: VendorMeta } {
  return signature === undefined ? {} : { meta: { claude: { signature } } };
}

/** Writes a Messages stream. Blocks are strictly sequential on this wire, so a part that opens while another is open waits for its turn. */
class MessagesEmitter implements Emitter {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly #context: AnswerContext;
  /** Block number and kind of each part that has opened. */
  readonly #open = new Map<number, { readonly number: number; readonly part: IrPartStart }>();
  #waiting: IrEvent[] = [];
  #current: number | undefined;
  #count = 0;

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  emit(event: IrEvent): string {
    if (!this.#mustWait(event)) return this.#write(event);
    this.#waiting.push(event);
    return '';
  }

  #mustWait(event: IrEvent): boolean {
    return 'index' in event && this.#current !== undefined && event.index !== this.#current;
  }

  #write(event: IrEvent): string {
    switch (event.type) {
      case 'message-start':
        return frame('message_start', { message: startMessage(this.#context, event) }) + frame('ping', {});
      case 'part-start':
        return this.#start(event.index, event.part);
      case 'part-delta':
        return this.#delta(event.index, event.text);
      case 'part-end':
        return this.#end(event);
      case 'message-end':
        return (
          frame('message_delta', {
            delta: { stop_reason: STOP_REASON[event.finish], stop_sequence: event.stopSequence ?? null },
            usage: lowerUsage(event.usage),
          }) + frame('message_stop', {})
        );
      case 'error':
        return frame('error', { error: errorObject(event.error) });
      case 'keep-alive':
        return frame('ping', {});
      case 'choice':
        // A Claude caller has no way to ask for several answers.
        return '';
    }
  }

  /** Blocks of other vendors have no form here, and SDKs that check what they read break on a kind they do not know. */
  #start(index: number, part: IrPartStart): string {
    if (part.kind === 'vendor' && part.meta?.claude === undefined) return '';
    this.#current = index;
    const carrier = carrierOf(part);
    const before = carrier === undefined ? '' : wholeBlock(this.#count++, carrier);
    const number = this.#count++;
    this.#open.set(index, { number, part });
    // Claude tells the whole of such a block in its first event, and other engines tell their state last: it is written with its end.
    if (part.kind === 'thinking' && part.redacted) return before;
    return `${before}${frame('content_block_start', { index: number, content_block: blockStart(part) })}`;
  }

  #delta(index: number, text: string): string {
    const open = this.#open.get(index);
    const delta = deltaOf(open?.part, text);
    return open === undefined || delta === undefined ? '' : frame('content_block_delta', { index: open.number, delta });
  }

  #end({ index, meta, citations = [] }: Extract<IrEvent, { type: 'part-end' }>): string {
    const open = this.#open.get(index);
    if (open === undefined) return '';
    this.#current = undefined;
    const { number, part } = open;
    if (part.kind === 'thinking' && part.redacted) return `${wholeBlock(number, redactedBlock({ ...part.meta, ...meta }))}${this.#drain()}`;
    const signature =
      part.kind === 'thinking'
        ? frame('content_block_delta', { index: number, delta: { type: 'signature_delta', signature: signatureOf(meta) } })
        : '';
    const own = meta?.claude?.citations;
    const sources = part.kind === 'text' ? (Array.isArray(own) ? listIn(own) : lowerCitations(citations)) : [];
    const cited = sources.map((citation) => frame('content_block_delta', { index: number, delta: { type: 'citations_delta', citation } }));
    return `${signature}${cited.join('')}${frame('content_block_stop', { index: number })}${this.#drain()}`;
  }

  /** Writes what waited, in order; what opens a part makes the others wait again. */
  #drain(): string {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting.map((event) => this.emit(event)).join('');
  }
}

export function emitter(context: AnswerContext): Emitter {
  return new MessagesEmitter(context);
}

function frame(type: string, members: JsonObject): string {
  return encodeSse({ event: type, data: JSON.stringify({ type, ...members }) });
}

function startMessage(context: AnswerContext, event: Extract<IrEvent, { type: 'message-start' }>): JsonObject {
  return {
    id: event.id ?? `msg_${context.runHex}`,
    type: 'message',
    role: 'assistant',
    model: context.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: lowerUsage(event.usage ?? NO_USAGE),
  };
}

/** A call's foreign state has no member here, so it rides in a block of its own before the call. */
function carrierOf(part: IrPartStart): JsonObject | undefined {
  const foreign = part.kind === 'tool-call' ? foreignMeta(part.meta, 'claude') : undefined;
  return foreign === undefined ? undefined : redactedBlock(foreign);
}

function wholeBlock(index: number, block: JsonObject): string {
  return frame('content_block_start', { index, content_block: block }) + frame('content_block_stop', { index });
}

function blockStart(part: IrPartStart): JsonObject {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool-call':
      return { type: 'tool_use', id: part.id, name: part.name, input: {}, ...part.meta?.claude };
    case 'vendor':
      return part.meta?.claude ?? { type: part.type };
  }
}

function deltaOf(part: IrPartStart | undefined, text: string): JsonObject | undefined {
  switch (part?.kind) {
    case 'text':
    case 'refusal':
      return { type: 'text_delta', text };
    case 'thinking':
      return { type: 'thinking_delta', thinking: text };
    case 'tool-call':
    case 'vendor':
      return { type: 'input_json_delta', partial_json: text };
    default:
      return undefined;
  }
}
