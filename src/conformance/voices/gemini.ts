import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import type { SseEvent } from '../../base/sse.ts';
import { Problems } from '../problems.ts';
import { type Ask, type Folded, LOOKUP, type Reading, type ToolCall, type Turn, type Voice } from '../voice.ts';

/** Google's generateContent API, as a caller sees it. */
export const gemini: Voice = {
  id: 'gemini',
  endings: { stop: ['STOP'], length: ['MAX_TOKENS'], 'tool-calls': ['STOP'], 'stop-sequence': ['STOP'] },
  overloaded: 503,
  lacks: {},
  credentials: (key) => ({ 'x-goog-api-key': key }),
  ask: (ask) => ({
    method: 'POST',
    path: `${pathOf(ask.model)}:${ask.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: JSON.stringify(requestBody(ask)),
  }),
  raw: (model, body) => ({ method: 'POST', path: `${pathOf(model)}:generateContent`, body }),
  incomplete: () => ({ generationConfig: { maxOutputTokens: 16 } }),
  read,
  fold,
  errorProblems(body, status) {
    const p = new Problems();
    const error = p.object('error', p.object('the body', body).error);
    p.text('error.message', error.message);
    p.that(typeof error.status === 'string' && /^[A-Z_]+$/.test(error.status), 'error.status should be a word of google.rpc.Code');
    // A backplane's own refusals keep their code and say which request it was.
    if (error.request_id === undefined) p.is('error.code', error.code, status);
    return p.list;
  },
};

function pathOf(model: string): string {
  return `/v1beta/models/${encodeURIComponent(model)}`;
}

function requestBody({ turns, maxTokens, tools, stop, extra }: Ask): JsonObject {
  const { name, description, schema } = LOOKUP;
  const config: JsonObject = {
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(stop === undefined ? {} : { stopSequences: stop }),
  };
  return {
    contents: turns.map(content),
    ...(tools ? { tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: schema }] }] } : {}),
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
    ...extra,
  };
}

function content(turn: Turn): JsonObject {
  switch (turn.kind) {
    case 'ask':
      return { role: 'user', parts: [{ text: turn.text }] };
    case 'answer':
      return new Problems().object('content', firstCandidate(turn.body).content);
    case 'results':
      return { role: 'user', parts: turn.results.map(({ call, text }) => ({ functionResponse: functionResponse(call, text) })) };
  }
}

function functionResponse(call: ToolCall, text: string): JsonObject {
  return { ...(call.id === '' ? {} : { id: call.id }), name: call.name, response: { result: text } };
}

function firstCandidate(body: JsonObject): JsonObject {
  const [candidate] = Array.isArray(body.candidates) ? body.candidates : [];
  return isJsonObject(candidate) ? candidate : {};
}

function read(body: JsonObject): Reading {
  const p = new Problems();
  const candidate = p.object('candidates[0]', p.objects('candidates', body.candidates)[0]);
  const told = p.object('candidates[0].content', candidate.content);
  p.is('content.role', told.role, 'model');
  const finish = p.text('candidates[0].finishReason', candidate.finishReason);
  p.text('modelVersion', body.modelVersion);
  p.text('responseId', body.responseId);
  const usage = p.object('usageMetadata', body.usageMetadata);
  const input = p.count('usageMetadata.promptTokenCount', usage.promptTokenCount);
  // A count of zero is left out on this wire.
  const output = Number(usage.candidatesTokenCount ?? 0) + Number(usage.thoughtsTokenCount ?? 0);
  p.is('usageMetadata.totalTokenCount', usage.totalTokenCount, input + Number(usage.toolUsePromptTokenCount ?? 0) + output);
  const parts = told.parts === undefined ? [] : p.objects('content.parts', told.parts);
  const text = parts.map((part) => (typeof part.text === 'string' && part.thought !== true ? part.text : '')).join('');
  const calls = parts.flatMap((part): ToolCall[] => (part.functionCall === undefined ? [] : [functionCall(p, part.functionCall)]));
  return { text, calls, finish, tokens: { input, output }, problems: p.list };
}

function functionCall(p: Problems, value: Json): ToolCall {
  const call = p.object('functionCall', value);
  const id = typeof call.id === 'string' ? call.id : '';
  return {
    id,
    name: p.text('functionCall.name', call.name),
    input: call.args === undefined ? {} : p.object('functionCall.args', call.args),
  };
}

/** Every event is a piece of the answer in its own shape; the reason to finish stands in the last one, once. */
function fold(events: readonly SseEvent[]): Folded {
  const p = new Problems();
  const parts: JsonObject[] = [];
  let last: JsonObject = {};
  let finish: Json | undefined;
  for (const { event, data } of events) {
    const parsed = parseJson(data);
    p.is('the name of an event', event, '');
    p.that(finish === undefined, 'nothing may follow the chunk with the finishReason');
    last = p.object('a chunk', parsed.ok ? parsed.value : data);
    const candidate = p.object('candidates[0]', p.objects('candidates', last.candidates)[0]);
    finish = candidate.finishReason;
    const told = isJsonObject(candidate.content) ? candidate.content : {};
    if (told.parts !== undefined) parts.push(...p.objects('content.parts', told.parts));
  }
  p.that(finish !== undefined, 'the last chunk should have a finishReason');
  const body = { ...last, candidates: [{ ...firstCandidate(last), content: { role: 'model', parts } }] };
  const pieces = parts.filter((part) => part.text !== '').length;
  return { body, pieces, problems: p.list };
}
