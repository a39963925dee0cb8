import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import { Problems } from '../problems.ts';
import { type Ask, LOOKUP, type Reading, type ToolCall, type Turn, type Voice } from '../voice.ts';
import { foldChat } from './chat-stream.ts';

/** Traits in which one vendor of the Chat family differs from the others. */
export interface ChatVendor {
  readonly id: string;
  readonly path: string;
  readonly maxTokens: 'max_completion_tokens' | 'max_tokens';
  readonly overloaded: number;
  /** Answers and chunks carry `object`, `created` and one id. */
  readonly labelled: boolean;
  /** Members of an error besides its message. */
  readonly errorMembers: readonly string[];
}

/** A Chat Completions API, as a caller sees it. */
export function chatVoice({ id, path, maxTokens, overloaded, labelled, errorMembers }: ChatVendor): Voice {
  const raw: Voice['raw'] = (_model, body) => ({ method: 'POST', path, body });
  return {
    id,
    endings: { stop: ['stop'], length: ['length'], 'tool-calls': ['tool_calls'], 'stop-sequence': ['stop'] },
    overloaded,
    lacks: {},
    credentials: (key) => ({ authorization: `Bearer ${key}` }),
    ask: (ask) => raw(ask.model, JSON.stringify(requestBody(ask, maxTokens))),
    raw,
    incomplete: (model) => ({ model }),
    read: (body) => read(body, labelled),
    fold: (events) => foldChat(events, labelled),
    errorProblems(body, status) {
      const p = new Problems();
      const error = p.object('error', p.object('the body', body).error);
      p.text('error.message', error.message);
      for (const name of errorMembers) p.that(error[name] !== undefined, `error.${name} should be there`);
      p.that(status >= 400, `the status should be an error, not ${status}`);
      return p.list;
    },
  };
}

function requestBody({ model, turns, maxTokens, stream, tools, stop, extra }: Ask, limit: string): JsonObject {
  const { name, description, schema } = LOOKUP;
  return {
    model,
    messages: turns.flatMap(messages),
    ...(maxTokens === undefined ? {} : { [limit]: maxTokens }),
    ...(tools ? { tools: [{ type: 'function', function: { name, description, parameters: schema } }] } : {}),
    ...(stop === undefined ? {} : { stop }),
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    ...extra,
  };
}

function messages(turn: Turn): JsonObject[] {
  switch (turn.kind) {
    case 'ask':
      return [{ role: 'user', content: turn.text }];
    case 'answer':
      return [new Problems().object('message', firstChoice(turn.body).message)];
    case 'results':
      return turn.results.map(({ call, text }) => ({ role: 'tool', tool_call_id: call.id, content: text }));
  }
}

function firstChoice(body: JsonObject): JsonObject {
  const [choice] = Array.isArray(body.choices) ? body.choices : [];
  return isJsonObject(choice) ? choice : {};
}

function read(body: JsonObject, labelled: boolean): Reading {
  const p = new Problems();
  p.text('id', body.id);
  if (labelled) {
    p.is('object', body.object, 'chat.completion');
    p.count('created', body.created);
  }
  p.text('model', body.model);
  const choice = p.object('choices[0]', p.objects('choices', body.choices)[0]);
  p.is('choices[0].index', choice.index, 0);
  const message = p.object('choices[0].message', choice.message);
  p.is('message.role', message.role, 'assistant');
  const content = message.content ?? (labelled ? message.content : null);
  p.that(content === null || typeof content === 'string', 'message.content should be null or a text');
  const finish = p.text('choices[0].finish_reason', choice.finish_reason);
  const usage = p.object('usage', body.usage);
  const tokens = {
    input: p.count('usage.prompt_tokens', usage.prompt_tokens),
    output: p.count('usage.completion_tokens', usage.completion_tokens),
  };
  // Some vendors of the family count reasoning in the total alone.
  const total = p.count('usage.total_tokens', usage.total_tokens);
  p.that(total >= tokens.input + tokens.output, `usage.total_tokens should be at least ${tokens.input + tokens.output}, not ${total}`);
  const calls = message.tool_calls === undefined || message.tool_calls === null ? [] : p.objects('tool_calls', message.tool_calls);
  const text = typeof content === 'string' ? content : '';
  return { text, calls: calls.map((call, at) => toolCall(p, call, at)), finish, tokens, problems: p.list };
}

function toolCall(p: Problems, call: JsonObject, at: number): ToolCall {
  const name = `tool_calls[${at}]`;
  p.is(`${name}.type`, call.type, 'function');
  const told = p.object(`${name}.function`, call.function);
  // A call without arguments may have none at all.
  const parsed = parseJson(p.anyText(`${name}.function.arguments`, told.arguments) || '{}');
  p.that(parsed.ok, `${name}.function.arguments should be JSON`);
  const input: Json = parsed.ok ? parsed.value : null;
  return { id: p.text(`${name}.id`, call.id), name: p.text(`${name}.function.name`, told.name), input };
}
