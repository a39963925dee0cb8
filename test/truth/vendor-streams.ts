import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';
import { objects, pieces, text } from './pieces.ts';
import { responsesEvents } from './responses-stream.ts';

/** How a vendor streams an answer that is known whole, written from its descriptions and recordings and not with our own emitters. */
type Stream = (answer: JsonObject) => readonly JsonObject[];

function object(value: Json | undefined): JsonObject | undefined {
  return isJsonObject(value ?? null) ? (value as JsonObject) : undefined; // checked
}

const CALLS: ReadonlySet<Json | undefined> = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use']);

/** A Claude block as it begins, and what then comes into it. */
function claudeBlock(block: JsonObject): { start: JsonObject; deltas: readonly JsonObject[] } {
  if (block.type === 'text') {
    const said = pieces(block.text).map((piece) => ({ type: 'text_delta', text: piece }));
    const cited = objects(block.citations).map((citation) => ({ type: 'citations_delta', citation }));
    return { start: { ...block, text: '', ...(cited.length === 0 ? {} : { citations: [] }) }, deltas: [...said, ...cited] };
  }
  if (block.type === 'thinking') {
    const thought = pieces(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking }));
    const signed = text(block.signature) === '' ? [] : [{ type: 'signature_delta', signature: text(block.signature) }];
    return { start: { ...block, thinking: '', signature: '' }, deltas: [...thought, ...signed] };
  }
  if (block.type === 'compaction') {
    const said = pieces(block.content).map((content) => ({ type: 'compaction_delta', content }));
    return { start: { ...block, content: null }, deltas: said };
  }
  if (!CALLS.has(block.type)) return { start: block, deltas: [] };
  const input = JSON.stringify(block.input ?? {});
  const written = input === '{}' ? [] : pieces(input);
  return { start: { ...block, input: {} }, deltas: ['', ...written].map((piece) => ({ type: 'input_json_delta', partial_json: piece })) };
}

const claude: Stream = ({ content, stop_reason = null, stop_sequence = null, usage, ...message }) => {
  const used = object(usage) ?? {};
  const begun = { ...used, output_tokens: 1, output_tokens_details: null, server_tool_use: null };
  const blocks = objects(content).flatMap((block, index) => {
    const { start, deltas } = claudeBlock(block);
    return [
      { type: 'content_block_start', index, content_block: start },
      { type: 'ping' },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
  });
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: begun } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: used },
    { type: 'message_stop' },
  ];
};

/** Words that have logprobs come token by token. */
function chatWords(content: Json | undefined, logprobs: Json | undefined): readonly JsonObject[] {
  if (Array.isArray(content)) return [{ delta: { content } }];
  const told = object(logprobs);
  const tokens = objects(told?.content);
  if (told !== undefined && tokens.length > 0 && tokens.map(({ token }) => text(token)).join('') === content)
    return tokens.map((token) => ({ delta: { content: token.token ?? '' }, logprobs: { ...told, content: [token] } }));
  return pieces(content).map((piece, at) => ({ delta: { content: piece }, ...(at === 0 && told !== undefined ? { logprobs: told } : {}) }));
}

function chatAudio(audio: JsonObject): readonly JsonObject[] {
  const { id = null, transcript, data = null, expires_at = null } = audio;
  const words = pieces(transcript).map((piece): JsonObject => ({ transcript: piece }));
  return [{ id }, ...words, { data }, { expires_at }].map((one) => ({ delta: { audio: one } }));
}

/** The name of a call comes first, its text piece by piece. */
function chatCall(call: JsonObject, index: number): readonly JsonObject[] {
  const member = call.custom === undefined ? 'function' : 'custom';
  const key = member === 'custom' ? 'input' : 'arguments';
  const said = object(call[member]) ?? {};
  return [
    { index, ...call, [member]: { ...said, [key]: '' } },
    ...pieces(said[key]).map((piece): JsonObject => ({ index, [member]: { [key]: piece } })),
  ].map((one) => ({ delta: { tool_calls: [one] } }));
}

const REASONING = ['reasoning_content', 'reasoning', 'reasoning_text'] as const;

function chatMessage(message: JsonObject, logprobs: Json | undefined): readonly JsonObject[] {
  const { role = 'assistant', content, refusal, tool_calls, function_call: legacy, audio, annotations, ...others } = message;
  const rest = Object.fromEntries(Object.entries(others).filter(([key]) => !REASONING.some((name) => name === key)));
  const called = object(legacy);
  const heard = object(audio);
  return [
    { delta: { role, content: '', ...rest } },
    ...REASONING.flatMap((name) => pieces(others[name]).map((piece): JsonObject => ({ delta: { [name]: piece } }))),
    ...chatWords(content, logprobs),
    ...(objects(annotations).length === 0 ? [] : [{ delta: { annotations: annotations ?? null } }]),
    ...pieces(refusal).map((piece): JsonObject => ({ delta: { refusal: piece } })),
    ...(heard === undefined ? [] : chatAudio(heard)),
    ...(called === undefined ? [] : [{ delta: { function_call: { ...called, arguments: '' } } }]),
    ...pieces(called?.arguments).map((piece): JsonObject => ({ delta: { function_call: { arguments: piece } } })),
    ...objects(tool_calls).flatMap(chatCall),
  ];
}

const chat: Stream = ({ choices, usage, ...head }) => {
  const shared = { ...head, object: 'chat.completion.chunk' };
  const told = objects(choices).flatMap(({ index = 0, message, finish_reason = null, logprobs, ...others }) => [
    ...chatMessage(object(message) ?? {}, logprobs).map((piece) => ({ index, finish_reason: null, ...piece })),
    { index, delta: {}, finish_reason, ...others },
  ]);
  return [...told.map((choice) => ({ ...shared, choices: [choice] })), ...(usage === undefined ? [] : [{ ...shared, choices: [], usage }])];
};

/** A text comes in several parts, of which the last has its signature. */
function geminiPart(part: JsonObject): readonly JsonObject[] {
  const { text: said, thoughtSignature, ...others } = part;
  const some = pieces(said);
  if (some.length < 2) return [part];
  const signed = thoughtSignature === undefined ? {} : { thoughtSignature };
  return some.map((piece, at) => ({ text: piece, ...others, ...(at === some.length - 1 ? signed : {}) }));
}

const gemini: Stream = ({ candidates, usageMetadata, promptFeedback, ...head }) => {
  const chunks = objects(candidates).flatMap(({ content, index = 0, finishReason, ...tail }): readonly JsonObject[] => {
    const body = object(content) ?? {};
    const ended = finishReason === undefined ? {} : { finishReason };
    return [
      ...objects(body.parts).flatMap((part) => geminiPart(part).map((one) => ({ index, content: { ...body, parts: [one] } }))),
      { index, content: body.parts === undefined ? body : { role: 'model', parts: [{ text: '' }] }, ...ended, ...tail },
    ].map((candidate) => ({ ...head, candidates: [candidate] }));
  });
  const events: readonly JsonObject[] = chunks.length === 0 ? [head] : chunks;
  return events.map((event, at) => ({
    ...event,
    ...(at === 0 && promptFeedback !== undefined ? { promptFeedback } : {}),
    ...(at === events.length - 1 && usageMetadata !== undefined ? { usageMetadata } : {}),
  }));
};

const STREAMS: Readonly<Record<string, Stream>> = {
  claude,
  'openai-chat': chat,
  'openai-responses': responsesEvents,
  gemini,
  kimi: chat,
  copilot: chat,
};

/** The events in which a vendor would have streamed an answer. */
export function eventsOf(dialect: string, answer: JsonObject): readonly JsonObject[] {
  return STREAMS[dialect]?.(answer) ?? [];
}

const NAMED: ReadonlySet<string> = new Set(['claude', 'openai-responses']);

/** The same as bytes: with the names of the events where the vendor has them, and with its word for the end. */
export function streamOf(dialect: string, answer: JsonObject): Buffer {
  const line = dialect === 'gemini' ? '\r\n' : '\n';
  const frames = eventsOf(dialect, answer).map((event) => {
    const name = NAMED.has(dialect) ? `event: ${text(event.type)}${line}` : '';
    return `${name}data: ${JSON.stringify(event)}${line}${line}`;
  });
  const end = NAMED.has(dialect) || dialect === 'gemini' ? '' : 'data: [DONE]\n\n';
  return Buffer.from(frames.join('') + end);
}
