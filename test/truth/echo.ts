import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';
import { type MappingTarget, mapTo, OPTED_IN } from '../support/mapping.ts';
import type { SampleAnswer } from './sources.ts';
import type { Tally } from './tally.ts';

/** The next request of a conversation, as the vendor's SDK makes it of an answer: undefined for an answer without content. */
type Echo = (answer: JsonObject, asked: JsonObject | undefined) => JsonObject | undefined;

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []; // Array.isArray widens
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return list(value).filter(isJsonObject);
}

const ASKED = 'and then?';

const chat: Echo = (answer, asked) => {
  const message = objects(answer.choices)[0]?.message;
  if (!isJsonObject(message)) return undefined;
  const results = objects(message.tool_calls).map((call) => ({ role: 'tool', tool_call_id: call.id ?? '', content: 'done' }));
  const legacy = isJsonObject(message.function_call) ? [{ role: 'function', name: message.function_call.name ?? '', content: 'done' }] : [];
  const next = results.length + legacy.length > 0 ? [...results, ...legacy] : [{ role: 'user', content: ASKED }];
  const tools = objects(asked?.tools).filter(({ type }) => type === 'function' || type === 'custom');
  const { functions } = asked ?? {};
  return {
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', ...message }, ...next],
    ...(tools.length === 0 ? {} : { tools }),
    ...(functions === undefined ? {} : { functions }),
  };
};

/** The member of the vendors' SDKs that holds the answer of a turn, put back as it came. */
export const ECHOES: Readonly<Record<string, Echo>> = {
  claude: (answer, asked) => {
    const content = objects(answer.content);
    if (content.length === 0) return undefined;
    const calls = content.filter(({ type }) => type === 'tool_use');
    const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id ?? '', content: 'done' }));
    const tools = objects(asked?.tools).filter(({ type }) => type === undefined || type === 'custom');
    return {
      model: 'm',
      max_tokens: 100,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content },
        { role: 'user', content: results.length === 0 ? ASKED : results },
      ],
      ...(tools.length === 0 ? {} : { tools }),
    };
  },
  'openai-chat': chat,
  kimi: chat,
  copilot: chat,
  'openai-responses': (answer, asked) => {
    const output = objects(answer.output);
    if (output.length === 0) return undefined;
    const results = output.flatMap(({ type, call_id: id }): JsonObject[] => {
      if (type === 'function_call') return [{ type: 'function_call_output', call_id: id ?? '', output: 'done' }];
      return type === 'custom_tool_call' ? [{ type: 'custom_tool_call_output', call_id: id ?? '', output: 'done' }] : [];
    });
    const tools = objects(asked?.tools).filter(({ type }) => type === 'function' || type === 'custom');
    return {
      model: 'm',
      input: [{ role: 'user', content: 'hi' }, ...output, ...(results.length === 0 ? [{ role: 'user', content: ASKED }] : results)],
      ...(tools.length === 0 ? {} : { tools }),
    };
  },
  gemini: (answer, asked) => {
    const content = objects(answer.candidates)[0]?.content;
    if (!isJsonObject(content) || list(content.parts).length === 0) return undefined;
    const results = objects(content.parts).flatMap(({ functionCall: call }): JsonObject[] =>
      isJsonObject(call)
        ? [{ functionResponse: { ...(call.id === undefined ? {} : { id: call.id }), name: call.name ?? '', response: { result: 'done' } } }]
        : [],
    );
    const tools = objects(asked?.tools).filter((tool) => tool.functionDeclarations !== undefined);
    return {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        content,
        { role: 'user', parts: results.length === 0 ? [{ text: ASKED }] : results },
      ],
      ...(tools.length === 0 ? {} : { tools }),
    };
  },
};

/** Puts a vendor's answer into the next request and sees whether the engine is served it. */
export function tryEcho({ id, from, answer, request }: SampleAnswer, target: MappingTarget, tally: Tally): void {
  const body = ECHOES[from]?.(answer, request);
  if (body === undefined) return;
  tally.tried += 1;
  const { error } = mapTo(target, from, body, { emulate: OPTED_IN });
  if (error !== undefined)
    tally.wrong.push({ sample: id, where: target.name, what: `${error.code} ${String(error.details.path ?? '')} ${error.message}` });
}
