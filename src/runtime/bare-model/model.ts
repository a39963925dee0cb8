import type { IncomingMessage } from 'node:http';
import { nodeHttp } from '../../base/builtin/http.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { parseShallowObject } from '../../base/json-limits.ts';
import { decodeSse, SseFrames } from '../../base/sse.ts';

/** The gateway as a program of a run sees it: the key pins the engine and dies with the run. */
export interface GatewayAccess {
  readonly url: string;
  readonly key: string;
  readonly engine: string;
}

/** A call of a tool that the model asks for. */
export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** One answer of the model. */
export interface Answer {
  /** Blocks as the model wrote them, to be sent back in the next turn. */
  readonly content: readonly JsonObject[];
  readonly text: string;
  readonly calls: readonly ToolUse[];
  readonly usage: { readonly input: number; readonly output: number; readonly cached: number };
}

/** Hears an answer while it comes. */
export interface Listener {
  text(delta: string): void;
  thinking(delta: string): void;
}

/** The gateway or its engine refused a call. */
class ModelError extends Error {
  readonly errorCode: string;

  constructor(message: string, errorCode: string) {
    super(message);
    this.errorCode = errorCode;
  }
}

/** Asks the model in the Claude dialect, streamed; the gateway translates where the engine speaks another. */
export async function ask(gateway: GatewayAccess, body: JsonObject, listener: Listener, signal: AbortSignal): Promise<Answer> {
  const blocks: Record<string, Json>[] = [];
  const usage = { input: 0, output: 0, cached: 0 };
  for await (const data of stream(gateway, { path: '/v1/messages', body, signal })) {
    const event = parseShallowObject(data);
    if (event !== undefined) take(event, { blocks, usage, listener });
  }
  const content = blocks.map(settled);
  return {
    content,
    text: content.map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : '')).join(''),
    calls: content.flatMap(({ type, id, name, input }) =>
      type === 'tool_use' && typeof id === 'string' && typeof name === 'string'
        ? [{ id, name, input: isJsonObject(input) ? input : {} }]
        : [],
    ),
    usage,
  };
}

interface Taking {
  readonly blocks: Record<string, Json>[];
  readonly usage: { input: number; output: number; cached: number };
  readonly listener: Listener;
}

function take(event: JsonObject, { blocks, usage, listener }: Taking): void {
  const index = typeof event.index === 'number' ? event.index : 0;
  const delta = isJsonObject(event.delta) ? event.delta : {};
  switch (event.type) {
    case 'error': {
      const error = isJsonObject(event.error) ? event.error : {};
      throw new ModelError(String(error.message ?? 'the stream broke'), 'stream_closed');
    }
    case 'message_start':
      count(usage, isJsonObject(event.message) ? event.message.usage : undefined);
      break;
    case 'message_delta':
      count(usage, event.usage);
      break;
    case 'content_block_start':
      blocks[index] = isJsonObject(event.content_block) ? { ...event.content_block } : {};
      break;
    case 'content_block_delta':
      grow(blocks, index, delta);
      if (typeof delta.text === 'string') listener.text(delta.text);
      if (typeof delta.thinking === 'string') listener.thinking(delta.thinking);
      break;
  }
}

/** Pieces of an input are kept as text until the block is whole. */
const PARTIAL = 'partial_json';

function grow(blocks: Record<string, Json>[], index: number, delta: JsonObject): void {
  const block = blocks[index];
  if (block === undefined) return;
  for (const member of ['text', 'thinking', 'signature', PARTIAL]) {
    const piece = delta[member];
    if (typeof piece === 'string') block[member] = `${typeof block[member] === 'string' ? block[member] : ''}${piece}`;
  }
}

function settled({ [PARTIAL]: partial, ...block }: Record<string, Json>): JsonObject {
  if (block.type !== 'tool_use') return block;
  return { ...block, input: typeof partial === 'string' ? (parseShallowObject(partial) ?? {}) : (block.input ?? {}) };
}

function count(usage: Taking['usage'], told: Json | undefined): void {
  if (!isJsonObject(told)) return;
  const number = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined);
  const cached = number(told.cache_read_input_tokens);
  const input = number(told.input_tokens);
  usage.cached = cached ?? usage.cached;
  if (input !== undefined) usage.input = input + (cached ?? 0) + (number(told.cache_creation_input_tokens) ?? 0);
  usage.output = number(told.output_tokens) ?? usage.output;
}

/** A request to the engine of the run. */
export interface Posted {
  /** Of the dialect, such as `/v1/messages`. */
  readonly path: string;
  readonly body: JsonObject;
  readonly signal: AbortSignal;
}

/** The data of every event that the engine answers with. Throws what the gateway answers instead. */
export async function* stream(gateway: GatewayAccess, posted: Posted): AsyncGenerator<string> {
  const answer = await post(gateway, posted);
  const status = answer.statusCode ?? 500;
  if (status >= 400) throw refusalOf(await textOf(answer), status);
  const frames = new SseFrames();
  for await (const chunk of answer) for (const frame of frames.push(chunk)) yield decodeSse(frame).data;
}

async function post({ url, key, engine }: GatewayAccess, { path, body, signal }: Posted): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-abp-key': key, 'anthropic-version': '2023-06-01' };
    const call = nodeHttp.request(`${url}/e/${engine}${path}`, { method: 'POST', headers, signal }, resolve);
    call.once('error', reject);
    call.end(JSON.stringify(body));
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += String(chunk);
  return text;
}

function refusalOf(text: string, status: number): ModelError {
  const error = parseShallowObject(text)?.error;
  const { message, code } = isJsonObject(error) ? error : {};
  return new ModelError(
    typeof message === 'string' ? message : `the gateway answered ${status}`,
    typeof code === 'string' ? code : 'backend_unavailable',
  );
}
