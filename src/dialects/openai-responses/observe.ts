import { isJsonObject, type Json, type JsonObject, parseJson, parseJsonObject } from '../../base/json.ts';
import { decodeSse } from '../../base/sse.ts';
import { usageDetails } from '../../ir/usage.ts';
import type { Observed, ObservedToolCall, StreamObserver } from '../dialect.ts';
import { withErrorType } from '../stream-error.ts';
import { endingOf, finishOf, isCallItem, liftUsage } from './lift.ts';
import { fullName } from './lift-items.ts';
import * as wire from './wire.ts';

const NAMED = Buffer.from('event: ');
/** Longer than the name of any event that matters. */
const LONGEST_NAME = 48;
const MATTERS =
  /^event: (?:error|response\.(?:created|output_item\.done|completed|incomplete|failed|cancelled)|image_(?:generation|edit)\.completed|transcript\.text\.done|speech\.audio\.done)[\r\n]/;
const CALL = Buffer.from('_call"');

/** Deltas are most of a stream and repeated by the last events; only an event without a name must be read to be known. */
function matters(frame: Buffer): boolean {
  if (frame.length < NAMED.length || frame.compare(NAMED, 0, NAMED.length, 0, NAMED.length) !== 0) return true;
  const name = frame.toString('latin1', 0, LONGEST_NAME);
  return MATTERS.test(name) && (!name.startsWith('event: response.output_item') || frame.includes(CALL));
}

/** Gathers the facts for the receipt that a stream has told so far. */
class Sighting {
  model: string | undefined;
  error: string | undefined;
  response: wire.Response | undefined;
  /** The engine works on when the stream breaks off, and tells what that used when it is asked for the end. */
  background = false;
  /** The last event of a picture or a transcript. */
  alone: JsonObject | undefined;
  readonly items: wire.AnyItem[] = [];

  see(event: JsonObject): void {
    switch (event.type) {
      case 'response.output_item.done':
        if (isJsonObject(event.item)) this.items.push(event.item as wire.AnyItem); // an object with a type
        break;
      case 'error':
        this.error ??= errorText(isJsonObject(event.error) ? event.error : event);
        break;
      case 'response.created':
        this.model = isJsonObject(event.response) && typeof event.response.model === 'string' ? event.response.model : undefined;
        this.background = isJsonObject(event.response) && event.response.background === true;
        break;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        this.#end(event.response);
        break;
      case 'image_generation.completed':
      case 'image_edit.completed':
      case 'transcript.text.done':
      case 'speech.audio.done':
        this.alone = { usage: event.usage ?? null };
        break;
      default:
    }
  }

  #end(value: Json | undefined): void {
    const parsed = wire.Response.safeParse(value);
    if (parsed.success) this.response = parsed.data;
  }
}

export function observeStream(): StreamObserver {
  const sighting = new Sighting();
  /** Bytes of the events whose items are kept. */
  let held = 0;
  return {
    frame: (frame) => {
      if (!matters(frame)) return;
      const parsed = parseJson(decodeSse(frame).data);
      const value = parsed.ok ? withErrorType(parsed.value) : null;
      if (!isJsonObject(value)) return;
      held += frame.length;
      sighting.see(value);
    },
    get held() {
      return held;
    },
    done: () => {
      const { model, error, response, items, alone, background } = sighting;
      const seen = alone === undefined ? observed(response, items) : { toolCalls: [], finish: 'stop' as const, ...usageAlone(alone) };
      const failed = error ?? ('error' in seen ? seen.error : undefined);
      const goesOn = background && response === undefined && failed === undefined ? { finish: 'pause' as const } : {};
      return { ...(model === undefined ? {} : { model }), ...seen, ...goesOn, ...(failed === undefined ? {} : { error: failed }) };
    },
  };
}

/** Calls come from their own events, because some engines leave the output of the last one empty. */
function observed(response: wire.Response | undefined, items: readonly wire.AnyItem[]): Observed {
  const output = response?.output?.length ? response.output : items;
  const toolCalls = output.filter(isCallItem).map(callOf);
  if (response === undefined) return { toolCalls };
  const refused = output.some((item) => Array.isArray(item.content) && item.content.some(isRefusal));
  return {
    ...(typeof response.model === 'string' ? { model: response.model } : {}),
    ...(response.usage ? { usage: liftUsage({ ...response, output: [...output] }) } : {}),
    ...(response.usage && response.background === true ? { once: { name: `responses/${response.id}`, from: 0, to: 1 } } : {}),
    finish: finishOf(endingOf({ ...response, output: [...output] }, refused)),
    toolCalls,
    ...failureOf(response),
  };
}

/** A failed answer often has no words about it. */
function failureOf({ status, error }: wire.Response): { error?: string } {
  if (error) return { error: error.message ?? error.code ?? 'engine error' };
  return status === 'failed' || status === 'cancelled' ? { error: `the answer is ${status}` } : {};
}

function isRefusal(part: unknown): boolean {
  return typeof part === 'object' && part !== null && 'type' in part && part.type === 'refusal';
}

function callOf(item: wire.AnyItem): ObservedToolCall {
  const { call_id: id, arguments: text, input, namespace } = item;
  const name = fullName({ name: String(item.name), namespace: typeof namespace === 'string' ? namespace : undefined });
  return { ...(typeof id === 'string' ? { id } : {}), name, arguments: typeof text === 'string' ? text || '{}' : String(input ?? '') };
}

export function observeBody(body: string): Observed {
  const value = parseJsonObject(body);
  if (value === undefined) return { toolCalls: [] };
  const response = wire.Response.safeParse(value);
  if (response.success) return observed(response.data, []);
  const { error, detail } = value;
  if (isJsonObject(error)) return { toolCalls: [], error: errorText(error) };
  return { toolCalls: [], ...usageAlone(value), ...(typeof detail === 'string' ? { error: detail } : {}) };
}

function usageAlone(value: JsonObject): Pick<Observed, 'usage'> {
  const told = wire.UsageAlone.safeParse(value);
  if (!told.success) return {};
  const { input_token_details: heard, input_tokens_details: read, output_tokens_details: written } = told.data.usage;
  const usage = liftUsage({ id: '', usage: told.data.usage });
  const media = usageDetails({
    ...usage.details,
    audioInputTokens: heard?.audio_tokens ?? usage.details?.audioInputTokens,
    imageInputTokens: read?.image_tokens ?? undefined,
    imageOutputTokens: written?.image_tokens ?? undefined,
  });
  return { usage: { ...usage, ...media } };
}

function errorText(error: JsonObject): string {
  return typeof error.message === 'string' ? error.message : typeof error.code === 'string' ? error.code : 'engine error';
}
