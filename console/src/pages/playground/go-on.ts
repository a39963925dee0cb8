import type { Read, ToolCall } from '../../api/answer.ts';
import { parsed } from '../../base/parsed.ts';

type Loose = Record<string, unknown>;
type Results = ReadonlyMap<string, string>;

const arguments_ = ({ input }: ToolCall): unknown => (input === '' ? {} : parsed(input));
const resultOf = (results: Results, { id, name }: ToolCall): string => results.get(id === '' ? name : id) ?? '';
const listed = (request: Loose, member: string): unknown[] => {
  const value = request[member];
  return Array.isArray(value) ? value : [];
};

/** A JSON object stays one; other text is put into an object, because that is all Gemini takes. */
function asObject(result: string): unknown {
  const value = parsed(result);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { result: value };
}

function claude(request: Loose, read: Read, results: Results): Loose {
  const thought = read.signature === '' ? [] : [{ type: 'thinking', thinking: read.thinking, signature: read.signature }];
  const said = read.text === '' ? [] : [{ type: 'text', text: read.text }];
  const calls = read.tools.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: arguments_(call) }));
  const answers = read.tools.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: resultOf(results, call) }));
  const turns = [
    { role: 'assistant', content: [...thought, ...said, ...calls] },
    { role: 'user', content: answers },
  ];
  return { ...request, messages: [...listed(request, 'messages'), ...turns] };
}

function chat(request: Loose, read: Read, results: Results): Loose {
  const calls = read.tools.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: input } }));
  const turn = { role: 'assistant', content: read.text === '' ? null : read.text, tool_calls: calls };
  const answers = read.tools.map((call) => ({ role: 'tool', tool_call_id: call.id, content: resultOf(results, call) }));
  return { ...request, messages: [...listed(request, 'messages'), turn, ...answers] };
}

function responses(request: Loose, read: Read, results: Results): Loose {
  const before = typeof request.input === 'string' ? [{ role: 'user', content: request.input }] : listed(request, 'input');
  const calls = read.tools.map(({ id, name, input }) => ({ type: 'function_call', call_id: id, name, arguments: input }));
  const answers = read.tools.map((call) => ({ type: 'function_call_output', call_id: call.id, output: resultOf(results, call) }));
  return { ...request, input: [...before, ...calls, ...answers] };
}

function gemini(request: Loose, read: Read, results: Results): Loose {
  const calls = read.tools.map((call) => ({
    functionCall: { ...(call.id === '' ? {} : { id: call.id }), name: call.name, args: arguments_(call) },
  }));
  const answers = read.tools.map((call) => ({
    functionResponse: { ...(call.id === '' ? {} : { id: call.id }), name: call.name, response: asObject(resultOf(results, call)) },
  }));
  const turns = [
    { role: 'model', parts: calls },
    { role: 'user', parts: answers },
  ];
  return { ...request, contents: [...listed(request, 'contents'), ...turns] };
}

const WAYS: Readonly<Record<string, (request: Loose, read: Read, results: Results) => Loose>> = {
  claude,
  'openai-chat': chat,
  kimi: chat,
  copilot: chat,
  'openai-responses': responses,
  gemini,
};

/** The request that goes on after tools were called: the answer, then the results by the ids of the calls. */
export function goOn(dialect: string, body: string, read: Read, results: Results): object {
  const request = parsed(body);
  const way = WAYS[dialect] ?? chat;
  return way(typeof request === 'object' && request !== null ? { ...request } : {}, read, results);
}
