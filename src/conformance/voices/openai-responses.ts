import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { Problems } from '../problems.ts';
import { type Ask, LOOKUP, type Reading, type ToolCall, type Turn, type Voice } from '../voice.ts';
import { foldResponses } from './responses-stream.ts';

const raw: Voice['raw'] = (_model, body) => ({ method: 'POST', path: '/v1/responses', body });

/** OpenAI's Responses API, as a caller sees it. */
export const openaiResponses: Voice = {
  id: 'openai-responses',
  endings: { stop: ['completed'], length: ['incomplete'], 'tool-calls': ['completed'], 'stop-sequence': ['completed'] },
  overloaded: 503,
  lacks: { stop: 'the Responses API has no stop sequences' },
  credentials: (key) => ({ authorization: `Bearer ${key}` }),
  ask: (ask) => raw(ask.model, JSON.stringify(requestBody(ask))),
  raw,
  incomplete: (model) => ({ model, input: 17 }),
  read,
  fold: foldResponses,
  errorProblems(body, status) {
    const p = new Problems();
    const error = p.object('error', p.object('the body', body).error);
    p.text('error.message', error.message);
    for (const name of ['type', 'code']) p.that(error[name] !== undefined, `error.${name} should be there`);
    p.that(status >= 400, `the status should be an error, not ${status}`);
    return p.list;
  },
};

function requestBody({ model, turns, maxTokens, stream, tools, extra }: Ask): JsonObject {
  const { name, description, schema } = LOOKUP;
  return {
    model,
    input: turns.flatMap(items),
    // Not stored, so that the answer's own items go back with the next turn.
    store: false,
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
    ...(tools ? { tools: [{ type: 'function', name, description, parameters: schema, strict: false }] } : {}),
    ...(stream ? { stream } : {}),
    ...extra,
  };
}

function items(turn: Turn): JsonObject[] {
  switch (turn.kind) {
    case 'ask':
      return [{ role: 'user', content: turn.text }];
    case 'answer':
      return [...new Problems().objects('output', turn.body.output)];
    case 'results':
      return turn.results.map(({ call, text }) => ({ type: 'function_call_output', call_id: call.id, output: text }));
  }
}

function read(body: JsonObject): Reading {
  const p = new Problems();
  p.text('id', body.id);
  p.is('object', body.object, 'response');
  p.count('created_at', body.created_at);
  p.text('model', body.model);
  p.oneOf('status', body.status, ['completed', 'incomplete']);
  p.is('error', body.error, null);
  const reason = isJsonObject(body.incomplete_details) ? body.incomplete_details.reason : body.incomplete_details;
  if (body.status === 'incomplete') p.oneOf('incomplete_details.reason', reason, ['max_output_tokens', 'content_filter']);
  else p.is('incomplete_details', body.incomplete_details, null);
  const usage = p.object('usage', body.usage);
  const tokens = { input: p.count('usage.input_tokens', usage.input_tokens), output: p.count('usage.output_tokens', usage.output_tokens) };
  p.is('usage.total_tokens', usage.total_tokens, tokens.input + tokens.output);
  const output = p.objects('output', body.output);
  const text = output.map((item, at) => (item.type === 'message' ? messageText(p, item, `output[${at}]`) : '')).join('');
  const calls = output.flatMap((item, at): ToolCall[] => (item.type === 'function_call' ? [toolCall(p, item, `output[${at}]`)] : []));
  return { text, calls, finish: String(body.status), tokens, problems: p.list };
}

function messageText(p: Problems, item: JsonObject, name: string): string {
  p.text(`${name}.id`, item.id);
  p.is(`${name}.role`, item.role, 'assistant');
  const parts = p.objects(`${name}.content`, item.content);
  return parts.map((part) => (part.type === 'output_text' ? p.anyText(`${name}.content[].text`, part.text) : '')).join('');
}

function toolCall(p: Problems, item: JsonObject, name: string): ToolCall {
  const parsed = parseJson(p.text(`${name}.arguments`, item.arguments));
  // A call that the token limit cut off is marked as such.
  p.that(parsed.ok || item.status === 'incomplete', `${name}.arguments should be JSON`);
  return {
    id: p.text(`${name}.call_id`, item.call_id),
    name: p.text(`${name}.name`, item.name),
    input: parsed.ok ? parsed.value : null,
  };
}
