import { expect, test } from 'vitest';
import type { IrMessage } from '../../ir/conversation.ts';
import type { IrPart } from '../../ir/part.ts';
import type { IrRequest, IrTool } from '../../ir/request.ts';
import { answer } from './answer.ts';

const look: IrTool = {
  kind: 'function',
  name: 'look',
  schema: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 } }, required: ['city', 'days'] },
};
const count: IrTool = { kind: 'function', name: 'count', schema: { type: 'object', properties: {} } };
const note: IrTool = { kind: 'custom', name: 'note' };

function user(...parts: readonly (string | IrPart)[]): IrMessage {
  return { role: 'user', parts: parts.map((part) => (typeof part === 'string' ? { kind: 'text', text: part } : part)) };
}

function called(id: string, name: string): IrMessage {
  return { role: 'assistant', parts: [{ kind: 'tool-call', id, name, arguments: '{}' }] };
}

function result(callId: string, text: string, isError = false): IrPart {
  return { kind: 'tool-result', callId, parts: [{ kind: 'text', text }], isError };
}

function ask(conversation: string | readonly IrMessage[], members: Partial<IrRequest> = {}): IrRequest {
  const messages = typeof conversation === 'string' ? [user(conversation)] : conversation;
  return { model: 'sim-1', stream: true, tools: [], stop: [], sampling: {}, vendor: {}, messages, ...members };
}

function said(request: IrRequest): string {
  return answer(request).text;
}

function callsIn(request: IrRequest): string[] {
  return answer(request).calls.map((call) => `${call.name} ${call.arguments}`);
}

test('tells what it heard when nothing else is asked', () => {
  expect(said(ask('What is new?'))).toBe('sim heard: What is new?');
  expect(said(ask('x'.repeat(500)))).toBe(`sim heard: ${'x'.repeat(200)}`);
  expect(said(ask([]))).toBe('sim heard nothing');
});

test('finds the prompt among what an agent adds to it', () => {
  const messages: IrMessage[] = [
    { role: 'system', parts: [{ kind: 'text', text: 'say nothing' }] },
    user('<system-reminder>say no</system-reminder>', 'say yes'),
    { role: 'system', parts: [{ kind: 'text', text: 'say maybe' }] },
  ];
  expect(said(ask(messages))).toBe('yes');
});

test('calls a tool with the arguments as written', () => {
  const request = ask('call the tool look with {"city": "Paris", "days": 3.0}', { tools: [look] });
  expect(callsIn(request)).toEqual(['look {"city": "Paris", "days": 3.0}']);
});

test('calls a tool with the smallest valid arguments when none are given', () => {
  expect(callsIn(ask('call the tool look', { tools: [look] }))).toEqual(['look {"city":"sim","days":2}']);
});

test('calls a custom tool with free text', () => {
  const { calls } = answer(ask('call the tool note with remember the milk', { tools: [note] }));
  expect(calls).toEqual([{ name: 'note', arguments: 'remember the milk', custom: true }]);
});

test('finds a tool under the prefix an agent gave it', () => {
  const tools: IrTool[] = [
    { ...count, name: 'mcp__probe__echo' },
    { ...count, name: 'probe-sum' },
  ];
  expect(callsIn(ask('call the tool echo with {}', { tools }))).toEqual(['mcp__probe__echo {}']);
  expect(callsIn(ask('call the tool sum with {}', { tools }))).toEqual(['probe-sum {}']);
});

test('says which tools are offered when the one asked for is not', () => {
  expect(said(ask('call the tool find with {}', { tools: [look, count] }))).toBe(
    'the tool find is not offered; offered tools: look, count',
  );
  expect(said(ask('call the tool find with {}'))).toBe('the tool find is not offered; no tools are offered');
  expect(said(ask('write the text a into the file b', { tools: [count] }))).toBe('no offered tool can write a file; offered tools: count');
  expect(said(ask('call the tool look with {oops', { tools: [look] }))).toBe(
    'the arguments for the tool look are not a JSON object: {oops',
  );
});

test('several calls are parallel unless the request or a "then" says otherwise', () => {
  const both = 'call the tool look with {"city":"a","days":2} and call the tool count with {}';
  expect(callsIn(ask(both, { tools: [look, count] }))).toEqual(['look {"city":"a","days":2}', 'count {}']);
  expect(callsIn(ask(both, { tools: [look, count], parallelToolCalls: false }))).toEqual(['look {"city":"a","days":2}']);
  expect(callsIn(ask('call the tool count with {}, then call the tool look', { tools: [look, count] }))).toEqual(['count {}']);
});

test('goes through a loop of calls and answers with the last result', () => {
  const tools = [look, count];
  const start = [user('call the tool count with {} then call the tool look')];
  const second = [...start, called('c1', 'count'), user(result('c1', '3'))];
  const third = [...second, called('c2', 'look'), user(result('c2', 'sunny'), '<system-reminder>keep going</system-reminder>')];
  expect(callsIn(ask(start, { tools }))).toEqual(['count {}']);
  expect(callsIn(ask(second, { tools }))).toEqual(['look {"city":"sim","days":2}']);
  expect(callsIn(ask(third, { tools }))).toEqual([]);
  expect(said(ask(third, { tools }))).toBe('sunny');
});

test('answers with all results of parallel calls', () => {
  const messages = [
    user('call the tool count with {} and call the tool count with {}'),
    called('c1', 'count'),
    called('c2', 'count'),
    user(result('c1', 'one')),
    user(result('c2', 'two')),
  ];
  expect(said(ask(messages, { tools: [count] }))).toBe('one\ntwo');
});

test('tells a failed result and stops the loop', () => {
  const messages = [
    user('call the tool count with {} then call the tool look'),
    called('c1', 'count'),
    user(result('c1', 'no permission', true)),
  ];
  expect(callsIn(ask(messages, { tools: [look, count] }))).toEqual([]);
  expect(said(ask(messages, { tools: [look, count] }))).toBe('the tool count failed: no permission');
});

test('an empty result is told in words', () => {
  expect(said(ask([user('call the tool count with {}'), called('c1', 'count'), user(result('c1', ' '))]))).toBe(
    'the tool count returned nothing',
  );
});

test('a new prompt beside a tool result is obeyed, other text there is not', () => {
  const before = [user('call the tool count with {}'), called('c1', 'count')];
  expect(said(ask([...before, user(result('c1', '3'), 'say stop')]))).toBe('stop');
  expect(said(ask([...before, user(result('c1', '3'), 'The todo list is empty.')]))).toBe('3');
});

test('what is said before a call comes with it and what is said after it comes at the end', () => {
  const start = [user('say on it, call the tool count with {} and then say all done')];
  expect(said(ask(start, { tools: [count] }))).toBe('on it');
  expect(callsIn(ask(start, { tools: [count] }))).toEqual(['count {}']);
  expect(said(ask([...start, called('c1', 'count'), user(result('c1', '3'))], { tools: [count] }))).toBe('all done');
});

test('writes a file with the tool that is offered, in the directory the agent works in', () => {
  const write: IrTool = {
    kind: 'function',
    name: 'Write',
    schema: {
      type: 'object',
      properties: { file_path: { type: 'string' }, content: { type: 'string' } },
      required: ['file_path', 'content'],
    },
  };
  const messages: IrMessage[] = [
    { role: 'system', parts: [{ kind: 'text', text: 'Working directory: /home/dev\n' }] },
    user('write the text hello into the file out.txt'),
  ];
  expect(callsIn(ask(messages, { tools: [write] }))).toEqual(['Write {"file_path":"/home/dev/out.txt","content":"hello"}']);
});

test('the tool choice forces, restricts and forbids calls', () => {
  const tools = [count, look];
  expect(callsIn(ask('hello', { tools, toolChoice: { kind: 'required' } }))).toEqual(['count {}']);
  expect(callsIn(ask('hello', { tools, toolChoice: { kind: 'tool', name: 'look' } }))).toEqual(['look {"city":"sim","days":2}']);
  expect(callsIn(ask('use {"city":"Rome","days":4}', { tools, toolChoice: { kind: 'tool', name: 'look' } }))).toEqual([
    'look {"city":"Rome","days":4}',
  ]);
  expect(callsIn(ask('call the tool count', { tools, toolChoice: { kind: 'tool', name: 'look' } }))).toEqual([
    'look {"city":"sim","days":2}',
  ]);
  expect(callsIn(ask('hello', { tools, toolChoice: { kind: 'allowed', names: ['look'], mode: 'required' } }))).toEqual([
    'look {"city":"sim","days":2}',
  ]);
  expect(said(ask('call the tool count', { tools, toolChoice: { kind: 'allowed', names: ['look'], mode: 'auto' } }))).toBe(
    'the tool count is not offered; offered tools: look',
  );
  expect(said(ask('call the tool count', { tools, toolChoice: { kind: 'none' } }))).toBe('the tool choice forbids tool calls');
});

test('answers in JSON when asked to', () => {
  expect(said(ask('hello', { output: { kind: 'json' } }))).toBe('{"answer":"sim heard: hello"}');
  expect(said(ask('say {"a": 1}', { output: { kind: 'json' } }))).toBe('{"a": 1}');
});

test('answers with JSON of the schema: what was said, returned or asked for, else the smallest', () => {
  const output = {
    kind: 'json-schema',
    schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false },
  } as const;
  expect(said(ask('hello', { output }))).toBe('{"n":0}');
  expect(said(ask('not {"m":1} but {"n":7}', { output }))).toBe('{"n":7}');
  expect(said(ask([user('call the tool count'), called('c1', 'count'), user(result('c1', 'got {"n":9}'))], { output }))).toBe('{"n":9}');
});
