import { isJsonObject, type Json, type JsonObject, parseJson, parseJsonObject } from '../../src/base/json.ts';
import { decodeSse, SseFrames } from '../../src/base/sse.ts';
import { StreamTranslator, type Translation, translateWhole } from '../../src/calls/answers/translate.ts';
import type { AbpError } from '../../src/contract/errors.ts';
import type { AnswerContext } from '../../src/dialects/dialect.ts';
import type { IrEvent } from '../../src/ir/event.ts';
import { AnswerChanges } from '../../src/mapping/answer-changes.ts';
import type { AnswerChange } from '../../src/mapping/answer-filter.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { dialectOf, type MappingOptions, type MappingTarget, mapTo, targetOf } from '../support/mapping.ts';

export const CLAUDE = targetOf('claude', 'claude-sonnet-4-5');
export const CHAT = targetOf('openai:openai-chat', 'gpt-4o');
export const RESPONSES = targetOf('openai:openai-responses', 'gpt-4o');
export const REASONING = targetOf('openai:openai-responses', 'gpt-5.2');
export const GEMINI_2 = targetOf('gemini', 'gemini-2.5-flash');
export const GEMINI_3 = targetOf('gemini', 'gemini-3-pro');
export const KIMI = targetOf('kimi', 'kimi-k2.5');
export const KIMI_3 = targetOf('kimi', 'kimi-k3');
export const COPILOT = targetOf('copilot', 'gpt-4.1');
export const ENGINES = [CLAUDE, CHAT, RESPONSES, GEMINI_2, GEMINI_3, KIMI, COPILOT];

/** The engines that a caller of a dialect is mapped on. */
export function othersThan(from: string): MappingTarget[] {
  return ENGINES.filter(({ dialect }) => dialect.id !== from);
}

/** The body that an engine gets. */
export function sent(target: MappingTarget, from: string, body: Json, options: MappingOptions = {}): JsonObject {
  const { upstream, error } = mapTo(target, from, body, options);
  if (upstream === undefined) throw error ?? new Error('nothing was sent');
  return upstream.body;
}

/** Why a request is refused. */
export function refused(target: MappingTarget, from: string, body: Json, options: MappingOptions = {}): AbpError {
  const { error, upstream } = mapTo(target, from, body, options);
  if (error === undefined) throw new Error(`it was sent: ${JSON.stringify(upstream?.body)}`);
  return error;
}

/** What the account says about a leaf, by its own path or by its shape. */
export function fateOf({ fidelity }: Mapping, path: string): string | undefined {
  const shape = path.replaceAll(/\[\d+\]/g, '[*]');
  return (fidelity.find((entry) => entry.path === path) ?? fidelity.find((entry) => entry.path === shape && entry.count !== undefined))
    ?.fate;
}

const CONTEXT: AnswerContext = {
  runHex: '0190a1b2c3d47e5f8a9b0c1d2e3f4a5b',
  createdAtMs: 1_767_225_600_500,
  model: 'asked-model',
  includeUsage: true,
  query: '?alt=sse',
};

/** A whole answer of one engine as a caller of another dialect gets it. */
export function answered(engine: string, caller: string, body: Json, changes: readonly AnswerChange[] = []): JsonObject {
  const { text } = translateWhole(Buffer.from(JSON.stringify(body)), translationOf(engine, caller, changes));
  return parseJsonObject(text) ?? {};
}

/** The neutral events of an engine's stream, given as its events' data. */
export function stepped(engine: string, chunks: readonly (JsonObject | string)[]): IrEvent[] {
  const stepper = dialectOf(engine).stepper();
  const data = chunks.map((chunk) => (typeof chunk === 'string' ? chunk : JSON.stringify(chunk)));
  return [...data.flatMap((text) => stepper.step({ event: '', data: text })), ...stepper.end()];
}

/** A streamed answer as a caller of another dialect gets it. */
export function streamed(
  engine: string,
  caller: string,
  chunks: readonly (JsonObject | string)[],
  changes: readonly AnswerChange[] = [],
): string {
  const translator = new StreamTranslator(translationOf(engine, caller, changes));
  const data = chunks.map((chunk) => (typeof chunk === 'string' ? chunk : JSON.stringify(chunk)));
  return `${translator.push(Buffer.from(data.map((text) => `data: ${text}\n\n`).join('')))}${translator.end()}`;
}

function translationOf(engine: string, caller: string, changes: readonly AnswerChange[]): Translation {
  return { engine: dialectOf(engine), caller: dialectOf(caller), filter: new AnswerChanges(changes), context: CONTEXT };
}

/** The JSON events of a stream's text; the end mark of Chat is none. */
export function eventsIn(text: string): JsonObject[] {
  const frames = new SseFrames();
  return [...frames.push(Buffer.from(text)), ...frames.flush()]
    .map((frame) => parseJson(decodeSse(frame).data))
    .flatMap((parsed) => (parsed.ok && isJsonObject(parsed.value) ? [parsed.value] : []));
}

/** The events of one type. */
export function ofType(events: readonly JsonObject[], type: string): JsonObject[] {
  return events.filter((event) => event.type === type);
}

/** The messages of a body, whatever the wire calls them. */
export function messagesOf(body: JsonObject): readonly JsonObject[] {
  return (body.messages ?? body.input ?? body.contents) as readonly JsonObject[]; // each wire has one of the three
}

/** A chunk of a Chat stream. */
export function chunk(delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-4o',
    choices: [{ index: 0, delta, finish_reason: finish, ...more }],
  };
}

/** The piece of a call in a chunk; without a name it only brings arguments. */
export function callDelta(index: number, args: string, start?: { readonly id: string; readonly name: string }): JsonObject {
  const named = start === undefined ? {} : { id: start.id, type: 'function' };
  return { tool_calls: [{ index, ...named, function: { ...(start === undefined ? {} : { name: start.name }), arguments: args } }] };
}

/** A function tool of Messages. */
export const LOOK = { name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: { at: { type: 'string' } } } };
/** The same tool in Chat. */
export const CHAT_LOOK = { type: 'function', function: { name: 'look', description: 'Looks.', parameters: LOOK.input_schema } };

/** A Messages body. */
export function claudeBody(messages: Json, more: JsonObject = {}): JsonObject {
  return { model: 'claude-sonnet-4-5', max_tokens: 4096, messages, ...more };
}

/** A Chat body. */
export function chatBody(messages: Json, more: JsonObject = {}): JsonObject {
  return { model: 'gpt-4o', messages, ...more };
}

export const HELLO = [{ role: 'user', content: 'hello' }];

/** The calls, results and question of a tool loop in Messages. */
export function claudeLoop(calls: readonly JsonObject[], results: readonly JsonObject[]): JsonObject[] {
  return [
    { role: 'user', content: 'look' },
    { role: 'assistant', content: [...calls] },
    { role: 'user', content: [...results] },
  ];
}
