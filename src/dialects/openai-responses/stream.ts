import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import type { SseEvent } from '../../base/sse.ts';
import type { IrEvent, IrPartStart } from '../../ir/event.ts';
import type { IrPart } from '../../ir/part.ts';
import type { IrError } from '../../ir/response.ts';
import type { Seen, Stepper } from '../dialect.ts';
import { otherMembers } from '../members.ts';
import { liftLogprobs } from '../openai-logprobs.ts';
import { isCutOff, unreadable, withErrorType } from '../stream-error.ts';
import { streamError } from './errors.ts';
import { endingOf, finishOf, liftOutputItem, liftUsage } from './lift.ts';
import { ID } from './lift-content.ts';
import { callMeta, fullName } from './lift-items.ts';
import * as wire from './wire.ts';

/** A part that has opened, with what of its text has been told. */
interface OpenPart {
  readonly index: number;
  told: string;
  /** How many tokens have been told. */
  tokens: number;
}

/** An item of the answer: a message has a part per content, everything else one. */
interface OpenItem {
  readonly item: JsonObject;
  readonly parts: Map<number, OpenPart>;
  /** The piece of reasoning that is being told; all of them become one text. */
  piece: string | undefined;
  closed: boolean;
}

/** Reads a Responses stream. Items are told apart by id and output index, because some engines repeat the one or change the other. */
class ResponsesStepper implements Stepper {
  readonly #seen: Seen | undefined;
  readonly #byId = new Map<string, OpenItem>();
  readonly #byIndex = new Map<number, OpenItem>();
  /** Items in the order they came, as their last event told them. */
  readonly #items: OpenItem[] = [];
  readonly #finals: wire.AnyItem[] = [];
  #next = 0;
  #started = false;
  #refused = false;
  #ended = false;

  constructor(seen: Seen | undefined) {
    this.#seen = seen;
  }

  step(event: SseEvent): IrEvent[] {
    const parsed = parseJson(event.data);
    const value = parsed.ok ? withErrorType(parsed.value) : null;
    if (this.#ended) return [];
    if (!parsed.ok && isCutOff(event.data)) return this.#fail(unreadable());
    if (!isJsonObject(value)) return [];
    this.#seen?.(value);
    const events = this.#handle(value);
    if (this.#started || events.length === 0 || events[0]?.type === 'keep-alive') return events;
    this.#started = true;
    return events[0]?.type === 'message-start' ? events : [{ type: 'message-start' }, ...events];
  }

  end(): IrEvent[] {
    return this.#ended ? [] : this.#fail({ kind: 'server', message: 'the engine closed the stream early', status: 200 });
  }

  #handle(e: JsonObject): IrEvent[] {
    switch (e.type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.#content(e, e.type === 'response.refusal.delta' ? 'refusal' : 'text');
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#grow(this.#find(e), e);
      case 'response.reasoning_summary_text.delta':
        return this.#reasoning(this.#find(e), e, `summary ${String(e.summary_index)}`);
      case 'response.reasoning_text.delta':
        return this.#reasoning(this.#find(e), e, `content ${String(e.content_index)}`);
      case 'response.content_part.added':
        return this.#contentAdded(e);
      case 'response.output_item.added':
        return isJsonObject(e.item) ? this.#added(e.item, e.output_index) : [];
      case 'response.output_item.done':
        return isJsonObject(e.item) ? this.#done(e.item, e.output_index) : [];
      default:
        return this.#lifecycle(e);
    }
  }

  #lifecycle(e: JsonObject): IrEvent[] {
    switch (e.type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return this.#started ? [] : [messageStart(e.response)];
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        return this.#finish(e.response);
      case 'error':
        return this.#fail(streamError(isJsonObject(e.error) ? toldError(e.error) : toldError(e)));
      case 'keepalive':
        return [{ type: 'keep-alive' }];
      default:
        return [];
    }
  }

  /** The item an event belongs to. An id that nobody has announced is not trusted over the index. */
  #find(e: JsonObject): OpenItem | undefined {
    const byId = typeof e.item_id === 'string' ? this.#byId.get(e.item_id) : undefined;
    return byId ?? (typeof e.output_index === 'number' ? this.#byIndex.get(e.output_index) : this.#items.at(-1));
  }

  #added(raw: JsonObject, outputIndex: Json | undefined): IrEvent[] {
    const open: OpenItem = { item: complete(raw, this.#items.length), parts: new Map(), piece: undefined, closed: false };
    this.#items.push(open);
    if (typeof raw.id === 'string') this.#byId.set(raw.id, open);
    if (typeof outputIndex === 'number') this.#byIndex.set(outputIndex, open);
    return open.item.type === 'message' ? [] : [this.#open(open, 0, startOf(open.item))];
  }

  #open(open: OpenItem, at: number, part: IrPartStart): IrEvent {
    const index = this.#next;
    this.#next += 1;
    open.parts.set(at, { index, told: '', tokens: 0 });
    if (part.kind === 'refusal') this.#refused = true;
    return { type: 'part-start', index, part };
  }

  #contentAdded(e: JsonObject): IrEvent[] {
    const open = this.#find(e);
    if (open?.item.type !== 'message' || !isJsonObject(e.part)) return [];
    if (e.part.type !== 'output_text' && e.part.type !== 'refusal') return [];
    const at = contentIndex(e);
    return open.parts.has(at) ? [] : [this.#open(open, at, contentStart(open.item, e.part))];
  }

  /** A piece of a message; engines that announce no content part still mean one. */
  #content(e: JsonObject, kind: 'text' | 'refusal'): IrEvent[] {
    const open = this.#find(e);
    if (open?.item.type !== 'message') return [];
    const at = contentIndex(e);
    const opened = open.parts.has(at) ? [] : [this.#open(open, at, contentStart(open.item, { type: kind }))];
    return [...opened, ...this.#grow(open, e, at)];
  }

  #grow(open: OpenItem | undefined, e: JsonObject, at = 0): IrEvent[] {
    const part = open?.parts.get(at);
    if (part === undefined || typeof e.delta !== 'string') return [];
    const logprobs = liftLogprobs(e.logprobs);
    if (e.delta === '' && logprobs === undefined) return [];
    part.told += e.delta;
    part.tokens += logprobs?.length ?? 0;
    return [{ type: 'part-delta', index: part.index, text: e.delta, ...(logprobs === undefined ? {} : { logprobs }) }];
  }

  /** Pieces of reasoning are joined by a blank line. */
  #reasoning(open: OpenItem | undefined, e: JsonObject, piece: string): IrEvent[] {
    if (open === undefined || e.delta === '') return [];
    const between = open.piece === undefined || open.piece === piece ? [] : this.#grow(open, { delta: '\n\n' });
    open.piece = piece;
    return [...between, ...this.#grow(open, e)];
  }

  #done(raw: JsonObject, outputIndex: Json | undefined): IrEvent[] {
    const known = this.#known(raw, outputIndex);
    const opened = known === undefined ? this.#added(raw, outputIndex) : [];
    const open = known ?? this.#items.at(-1);
    return open === undefined || open.closed ? [] : [...opened, ...this.#close(open, complete(raw, this.#items.indexOf(open)))];
  }

  /** The open item that a finished one was announced as. */
  #known(item: JsonObject, outputIndex: Json | undefined): OpenItem | undefined {
    const byId = typeof item.id === 'string' ? this.#byId.get(item.id) : undefined;
    if (byId !== undefined) return byId;
    const byIndex = typeof outputIndex === 'number' ? this.#byIndex.get(outputIndex) : undefined;
    return byIndex?.item.type === item.type ? byIndex : undefined;
  }

  /** Tells what of the finished item was not told piece by piece, and ends its parts. */
  #close(open: OpenItem, item: JsonObject): IrEvent[] {
    open.closed = true;
    this.#finals.push(item as wire.AnyItem); // an object with a type
    const parts = liftOutputItem(item as wire.AnyItem); // as above
    const unnamed = [...open.parts].filter(([at]) => at >= parts.length).map(([, { index }]): IrEvent => ({ type: 'part-end', index }));
    const told = parts.flatMap((part, at) => this.#closePart(open, at, part));
    return [...told, ...unnamed];
  }

  #closePart(open: OpenItem, at: number, part: IrPart): IrEvent[] {
    const opened = open.parts.has(at) ? [] : [this.#open(open, at, wholeStart(part))];
    const { index, told, tokens } = open.parts.get(at) ?? { index: 0, told: '', tokens: 0 };
    const whole = textOf(part);
    const text = whole.startsWith(told) ? whole.slice(told.length) : '';
    const logprobs = part.kind === 'text' ? (part.logprobs ?? []).slice(tokens) : [];
    return [
      ...opened,
      ...(text === '' && logprobs.length === 0
        ? []
        : [{ type: 'part-delta', index, text, ...(logprobs.length === 0 ? {} : { logprobs }) } as const]),
      {
        type: 'part-end',
        index,
        ...(part.meta === undefined ? {} : { meta: part.meta }),
        ...(part.kind === 'text' && part.citations !== undefined ? { citations: part.citations } : {}),
      } as const,
    ];
  }

  /** The last event repeats the whole answer, or leaves its output empty; items are taken from wherever they were told. */
  #finish(value: Json | undefined): IrEvent[] {
    const parsed = wire.Response.safeParse(value);
    const response: wire.Response = parsed.success ? parsed.data : { id: '', status: 'failed' };
    const output = (response.output ?? []) as readonly JsonObject[]; // parsed JSON
    const late = output.flatMap((item, at) => this.#done(item, at));
    const unfinished = this.#items.flatMap((open) => (open.closed ? [] : this.#close(open, open.item)));
    if (response.status === 'failed' || response.status === 'cancelled') {
      return [...late, ...unfinished, ...this.#fail(streamError(response.error ?? { message: `the answer is ${response.status}` }))];
    }
    this.#ended = true;
    const whole = { ...response, output: this.#finals };
    const finish = finishOf(endingOf(whole, this.#refused));
    return [...late, ...unfinished, { type: 'message-end', finish, usage: liftUsage(whole) }];
  }

  #fail(error: IrError): IrEvent[] {
    this.#ended = true;
    return [{ type: 'error', error }];
  }
}

export function stepper(seen?: Seen): Stepper {
  return new ResponsesStepper(seen);
}

function messageStart(response: Json | undefined): IrEvent {
  if (!isJsonObject(response)) return { type: 'message-start' };
  const { id, model } = response;
  return { type: 'message-start', ...(typeof id === 'string' ? { id } : {}), ...(typeof model === 'string' ? { model } : {}) };
}

function toldError(value: JsonObject): { code?: string; type?: string; message?: string } {
  const { code, type, message } = value;
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  };
}

function contentIndex(e: JsonObject): number {
  return typeof e.content_index === 'number' ? e.content_index : 0;
}

/** The item with the members that its kind cannot do without; a call without an id gets one that stays the same. */
function complete(item: JsonObject, at: number): JsonObject {
  switch (item.type) {
    case 'message':
      return { role: 'assistant', ...item, content: Array.isArray(item.content) ? item.content : [] };
    case 'function_call':
    case 'custom_tool_call':
      return { name: '', arguments: '', input: '', ...item, call_id: item.call_id ?? item.id ?? `call_${at}` };
    default:
      return item;
  }
}

function startOf(item: JsonObject): IrPartStart {
  switch (item.type) {
    case 'function_call':
    case 'custom_tool_call': {
      const name = fullName({ name: String(item.name), namespace: typeof item.namespace === 'string' ? item.namespace : undefined });
      const custom = item.type === 'custom_tool_call' ? { custom: true } : {};
      return { kind: 'tool-call', id: String(item.call_id), name, ...custom, ...callMeta({ ...item, status: undefined }) };
    }
    case 'reasoning':
      return { kind: 'thinking', ...(typeof item.id === 'string' ? { meta: { [ID]: { id: item.id } } } : {}) };
    default:
      return { kind: 'vendor', dialect: ID, type: String(item.type), meta: { [ID]: item } };
  }
}

function contentStart(item: JsonObject, part: JsonObject): IrPartStart {
  const members = otherMembers(item, ['type', 'role', 'content', 'status']);
  const kind = part.type === 'refusal' ? 'refusal' : 'text';
  return { kind, ...(members === undefined ? {} : { meta: { [ID]: { item: members } } }) };
}

/** The start of a part that only its end has announced. */
function wholeStart(part: IrPart): IrPartStart {
  const meta = part.meta === undefined ? {} : { meta: part.meta };
  if (part.kind === 'text' || part.kind === 'refusal') return { kind: part.kind, ...meta };
  if (part.kind === 'thinking') return { kind: 'thinking', ...meta };
  if (part.kind === 'tool-call')
    return { kind: 'tool-call', id: part.id, name: part.name, ...(part.custom ? { custom: true } : {}), ...meta };
  return part.kind === 'vendor' ? part : { kind: 'vendor', dialect: ID, type: part.kind, ...meta };
}

function textOf(part: IrPart): string {
  if (part.kind === 'text' || part.kind === 'refusal' || part.kind === 'thinking') return part.text;
  return part.kind === 'tool-call' ? part.arguments : '';
}
