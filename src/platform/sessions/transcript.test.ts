import { expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { Transcript } from './transcript.ts';

let sequence = 0;
function play(...events: readonly (readonly [type: string, data: JsonObject])[]): Transcript {
  const transcript = new Transcript();
  for (const [type, data] of events) {
    sequence += 1;
    transcript.apply({ type, data, sequence });
  }
  return transcript;
}

const user = (text: string): readonly [string, JsonObject] => ['input.message', { message: { parts: [{ kind: 'text', text }] } }];
const agent = (...parts: JsonObject[]): readonly [string, JsonObject] => ['output.message.completed', { message: { parts } }];
const call = (id: string): JsonObject => ({ kind: 'tool-call', id, name: 'add', arguments: '{}' });
const result = (id: string, outcome: JsonObject): readonly [string, JsonObject] => [
  'tool.completed',
  { tool_call_id: id, tool_name: 'add', ...outcome },
];
const shown = (transcript: Transcript): unknown[] =>
  transcript.messages.map(({ role, parts }) => [
    role,
    ...parts.map((part) => ('callId' in part ? part.callId : 'text' in part ? part.text : part.kind)),
  ]);

test('results follow their calls in the order of the calls, whatever order they came in', () => {
  const transcript = play(user('go'), agent(call('a'), call('b')), result('b', { result: 2 }), result('a', { error: 'no' }));
  expect(shown(transcript)).toEqual([
    ['user', 'go'],
    ['assistant', 'tool-call', 'tool-call'],
    ['user', 'a', 'b'],
  ]);
  expect(transcript.messages[2]?.parts).toEqual([
    { kind: 'tool-result', callId: 'a', name: 'add', parts: [{ kind: 'text', text: 'no' }], isError: true },
    { kind: 'tool-result', callId: 'b', name: 'add', parts: [{ kind: 'text', text: '2' }], isError: false },
  ]);
});

test('what a user writes while calls are open comes after their results', () => {
  const transcript = play(user('go'), agent(call('a')), user('and more'), result('a', { result: 'x' }), user('last'));
  expect(shown(transcript)).toEqual([
    ['user', 'go'],
    ['assistant', 'tool-call'],
    ['user', 'a'],
    ['user', 'and more'],
    ['user', 'last'],
  ]);
});

test('what a user writes while the model answers comes after the answer, and after the results of its calls', () => {
  const late = (part: JsonObject): Transcript => {
    const [type, data] = agent(part);
    return play(user('go'), user('and more'), [type, { ...data, read_up_to: sequence + 1 }]);
  };
  expect(shown(late({ kind: 'text', text: 'gone' }))).toEqual([
    ['user', 'go'],
    ['assistant', 'gone'],
    ['user', 'and more'],
  ]);
  const calling = late(call('a'));
  expect(shown(calling)).toEqual([
    ['user', 'go'],
    ['assistant', 'tool-call'],
  ]);
  const [type, data] = result('a', { result: 'x' });
  calling.apply({ type, data, sequence: sequence + 1 });
  expect(shown(calling).slice(2)).toEqual([
    ['user', 'a'],
    ['user', 'and more'],
  ]);
});

test('an answer without content is left out, and other events change nothing', () => {
  const transcript = play(user('go'), agent(), ['turn.completed', {}], user('again'));
  expect(shown(transcript)).toEqual([
    ['user', 'go'],
    ['user', 'again'],
  ]);
  expect(transcript.sequence).toBe(sequence);
});
