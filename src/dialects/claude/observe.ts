import { isJsonObject, type JsonObject, jsonOf, parseJson, parseJsonObject } from '../../base/json.ts';
import { decodeSse } from '../../base/sse.ts';
import type { Observed, ObservedToolCall, StreamObserver } from '../dialect.ts';
import { withErrorObject, withErrorType } from '../stream-error.ts';
import { FINISH, liftUsage } from './lift.ts';
import * as wire from './wire.ts';

const DELTA = Buffer.from('event: content_block_delta');
const INPUT_JSON = Buffer.from('input_json_delta');
const BLOCK_START = Buffer.from('event: content_block_start');
const TOOL_USE = Buffer.from('tool_use');

function startsWith(frame: Buffer, prefix: Buffer): boolean {
  return frame.length >= prefix.length && frame.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}

/** Text and reasoning deltas are most of a stream and tell nothing that a receipt needs. */
function matters(frame: Buffer): boolean {
  if (startsWith(frame, DELTA)) return frame.includes(INPUT_JSON);
  if (startsWith(frame, BLOCK_START)) return frame.includes(TOOL_USE);
  return true;
}

interface OpenCall {
  readonly id?: string;
  readonly name: string;
  arguments: string;
}

/** Memory that a call takes besides its arguments. */
const CALL_HELD = 256;

/** Gathers the facts for the receipt that a stream has told so far. */
class Sighting {
  usage: JsonObject | undefined;
  model: string | undefined;
  stop: string | undefined;
  error: string | undefined;
  readonly calls = new Map<number, OpenCall>();
  /** Characters of all calls. */
  held = 0;

  see(event: wire.StreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.model = event.message.model;
        this.#merge(event.message.usage);
        break;
      case 'content_block_start':
        if (event.content_block.type === 'tool_use') this.#open(event.index, event.content_block);
        break;
      case 'content_block_delta':
        this.#grow(event.index, event.delta.partial_json);
        break;
      case 'message_delta':
        this.stop = event.delta.stop_reason ?? this.stop;
        this.#merge(event.usage);
        break;
      case 'error':
        this.error = event.error.message ?? event.error.type ?? 'engine error';
        break;
      default:
    }
  }

  #open(index: number, block: wire.AnyBlock): void {
    this.held += CALL_HELD;
    this.calls.set(index, { id: String(block.id), name: String(block.name), arguments: '' });
  }

  #grow(index: number, text: unknown): void {
    const call = this.calls.get(index);
    if (call === undefined || typeof text !== 'string') return;
    call.arguments += text;
    this.held += text.length;
  }

  /** Later values win: `message_delta` repeats and corrects what `message_start` said. */
  #merge(usage: wire.Usage | null | undefined): void {
    const told = Object.entries(usage ?? {}).filter(([, value]) => value !== null && value !== undefined);
    if (told.length > 0) this.usage = { ...this.usage, ...jsonOf(Object.fromEntries(told)) };
  }
}

export function observeStream(): StreamObserver {
  const sighting = new Sighting();
  return {
    frame: (frame) => {
      if (!matters(frame)) return;
      const parsed = parseJson(decodeSse(frame).data);
      const known = parsed.ok ? wire.StreamEvent.safeParse(withErrorObject(withErrorType(parsed.value))) : undefined;
      if (known?.success) sighting.see(known.data);
    },
    get held() {
      return sighting.held;
    },
    done: () => {
      const { model, stop, error, usage, calls } = sighting;
      return observed({ model, stop, error, usage, calls: [...calls.values()] });
    },
  };
}

function observed(f: {
  model: string | undefined;
  stop: string | undefined;
  error: string | undefined;
  usage: JsonObject | undefined;
  calls: readonly OpenCall[];
}): Observed {
  const finish = FINISH[f.stop ?? ''];
  const usage = f.usage === undefined ? undefined : wire.Usage.safeParse(f.usage);
  return {
    ...(f.model === undefined ? {} : { model: f.model }),
    ...(usage?.success ? { usage: liftUsage(usage.data) } : {}),
    ...(finish === undefined ? {} : { finish }),
    toolCalls: f.calls.map((call): ObservedToolCall => ({ ...call, arguments: call.arguments === '' ? '{}' : call.arguments })),
    ...(f.error === undefined ? {} : { error: f.error }),
  };
}

export function observeBody(body: string): Observed {
  return observeEnds(body) ?? observeWhole(body);
}

/** The parts of an answer before and behind its content. */
const CONTENT = '"content":';
const STOP = '"stop_reason":';

/**
 * An answer without tool calls tells all there is to know before and behind its content, and parsing only those ends costs a fraction.
 * A quote inside a JSON string is escaped, so the marks are members of some object. The end is the end of the answer itself, not of
 * something in it, if it closes exactly one object; likewise the beginning. Undefined where the answer is not of this form.
 */
function observeEnds(body: string): Observed | undefined {
  const content = body.indexOf(CONTENT);
  const stop = body.lastIndexOf(STOP);
  if (content === -1 || stop < content || body[stop - 1] === '\\' || body.includes('"tool_use"', content)) return undefined;
  const head = parseJsonObject(`${body.slice(0, content)}${CONTENT}null}`);
  const tail = parseJsonObject(`{${body.slice(stop)}`);
  if (typeof head?.model !== 'string' || !isJsonObject(tail?.usage) || tail.content !== undefined || tail.model !== undefined)
    return undefined;
  const reason = tail.stop_reason;
  return observed({
    model: head.model,
    stop: typeof reason === 'string' ? reason : undefined,
    error: undefined,
    usage: tail.usage,
    calls: [],
  });
}

function observeWhole(body: string): Observed {
  const value = parseJsonObject(body);
  if (value === undefined) return { toolCalls: [] };
  const response = wire.Response.safeParse(value);
  if (!response.success) return { toolCalls: [], ...errorText(value) };
  const calls = response.data.content
    .filter((block) => block.type === 'tool_use')
    .map((block) => ({ id: String(block.id), name: String(block.name), arguments: JSON.stringify(block.input ?? {}) }));
  return observed({
    model: response.data.model,
    stop: response.data.stop_reason ?? undefined,
    error: undefined,
    usage: response.data.usage ? jsonOf(response.data.usage) : undefined,
    calls,
  });
}

function errorText(value: JsonObject): { error?: string } {
  const { error } = value;
  return isJsonObject(error) && typeof error.message === 'string' ? { error: error.message } : {};
}
