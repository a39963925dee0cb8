import { expect, test } from 'vitest';
import { claude } from '../dialects/claude/dialect.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { IrMessage } from '../ir/conversation.ts';
import { repair } from './repair.ts';

const none = new Set<never>();
const user = (text: string): IrMessage => ({ role: 'user', parts: [{ kind: 'text', text }] });
const call: IrMessage = {
  role: 'assistant',
  parts: [{ kind: 'tool-call', id: 'c1', name: 'look', arguments: '{}', at: 'messages[1].content[0]' }],
};
const result: IrMessage = {
  role: 'user',
  parts: [{ kind: 'tool-result', callId: 'c1', isError: false, parts: [{ kind: 'text', text: 'seen' }] }],
};

test('a conversation that needs nothing stays as it is', () => {
  const messages = [user('hi'), call, result];
  expect(repair(messages, claude, none)).toEqual({ messages, notes: [] });
});

test('texts that say nothing go where the target answers 400 to them, and the last message gets a stand-in', () => {
  const blank = { kind: 'text', text: ' ', at: 'messages[0].content[1]' } as const;
  const first: IrMessage = { role: 'user', parts: [{ kind: 'text', text: 'hi' }, blank] };
  const { messages, notes } = repair([first, { role: 'assistant', parts: [{ kind: 'text', text: '' }] }, user('')], claude, none);
  expect(messages).toEqual([user('hi'), user('(no text)')]);
  expect(notes.at(-1)).toMatchObject({ concept: 'text', fate: 'emulated', code: 'blank_stand_in' });
  expect(notes[0]).toMatchObject({ concept: 'text', fate: 'renamed', code: 'says_nothing', at: 'messages[0].content[1]' });
  const lenient: Dialect = { ...claude, rules: { ...claude.rules, blankText: true } };
  expect(repair([first, user('more')], lenient, none)).toEqual({ messages: [first, user('more')], notes: [] });
});

test('a system message inside the conversation becomes labelled text where the target has no place for it', () => {
  const inPlace: IrMessage = { role: 'system', parts: [{ kind: 'text', text: 'be brief' }], at: 'messages[1]' };
  const { messages, notes } = repair([user('hi'), inPlace], claude, new Set(['system_in_place'] as const));
  expect(messages[1]).toEqual({
    role: 'user',
    at: 'messages[1]',
    parts: [
      { kind: 'text', text: '[system instruction]\n' },
      { kind: 'text', text: 'be brief' },
    ],
  });
  expect(notes).toMatchObject([{ concept: 'system_in_place', fate: 'emulated', code: 'system_as_text', at: 'messages[1]' }]);
});

test('the leading system prompt is not touched', () => {
  const system: IrMessage = { role: 'system', parts: [{ kind: 'text', text: 'be brief' }] };
  expect(repair([system, user('hi')], claude, new Set(['system_in_place'] as const)).notes).toEqual([]);
});

test('a call without a result gets one that says so', () => {
  const { messages, notes } = repair([user('hi'), call, user('go on')], claude, none);
  expect(messages[2]).toEqual({
    role: 'user',
    parts: [{ kind: 'tool-result', callId: 'c1', name: 'look', isError: true, parts: [{ kind: 'text', text: 'No result was recorded.' }] }],
  });
  expect(notes.map(({ at, fate }) => [at, fate])).toEqual([['messages[1].content[0]', 'emulated']]);
});

test('a result whose call is gone becomes text', () => {
  const { messages, notes } = repair([result], claude, none);
  expect(messages[0]?.parts).toEqual([
    { kind: 'text', text: '[tool result of c1]\n' },
    { kind: 'text', text: 'seen' },
  ]);
  expect(notes).toHaveLength(1);
});

test('media leave a result that can hold only text and follow it in the same turn', () => {
  const textOnly: Dialect = { ...claude, rules: { ...claude.rules, toolResultMedia: false } };
  const image = { kind: 'image', source: { kind: 'url', url: 'https://example.test/a.png' } } as const;
  const seen: IrMessage = { role: 'user', parts: [{ kind: 'tool-result', callId: 'c1', isError: false, parts: [image] }] };
  const { messages, notes } = repair([user('hi'), call, seen], textOnly, none);
  expect(messages[2]?.parts).toEqual([
    { kind: 'tool-result', callId: 'c1', isError: false, parts: [{ kind: 'text', text: 'The result is media; it follows.' }] },
    { kind: 'text', text: '[media 1–1 of tool result c1]\n' },
    image,
  ]);
  expect(notes.map(({ concept }) => concept)).toEqual(['tool_result_media']);
});

test('results move to the front of the turn right after their calls', () => {
  const called = (...ids: string[]): IrMessage => ({
    role: 'assistant',
    parts: ids.map((id) => ({ kind: 'tool-call', id, name: 'look', arguments: '{}' }) as const),
  });
  const seen = (id: string): IrMessage['parts'][number] => ({ kind: 'tool-result', callId: id, isError: false, parts: [] });
  const text = { kind: 'text', text: 'wait' } as const;
  const { messages, notes } = repair(
    [
      user('hi'),
      called('a', 'b'),
      { role: 'user', parts: [text, seen('b')] },
      user('so'),
      { role: 'user', parts: [seen('a')] },
      called('a'),
      result,
      { role: 'user', parts: [seen('a')] },
    ],
    claude,
    none,
  );
  expect(messages.map(({ role, parts }) => [role, parts.map((part) => (part.kind === 'tool-result' ? part.callId : part.kind))])).toEqual([
    ['user', ['text']],
    ['assistant', ['tool-call', 'tool-call']],
    ['user', ['a', 'b', 'text']],
    ['user', ['text']],
    ['assistant', ['tool-call']],
    ['user', ['a', 'text', 'text']],
  ]);
  expect(notes.map(({ concept }) => concept)).toEqual(['tool_result']);
});

test('arguments that are no JSON stand in an object where the wire takes objects, and go as they are where it takes text', () => {
  const broken: IrMessage = {
    role: 'assistant',
    parts: [{ kind: 'tool-call', id: 'c1', name: 'look', arguments: '{"city": "Par', at: 'messages[1].content[0]' }],
  };
  const { messages, notes } = repair([user('hi'), broken, result], claude, none);
  expect(messages[1]?.parts).toEqual([{ ...broken.parts[0], arguments: '{"unreadable_arguments":"{\\"city\\": \\"Par"}' }]);
  expect(notes).toEqual([expect.objectContaining({ concept: 'tool_call', fate: 'emulated', at: 'messages[1].content[0]' })]);
  const texts: Dialect = { ...claude, rules: { ...claude.rules, argumentsAreObjects: false } };
  expect(repair([user('hi'), broken, result], texts, none)).toEqual({ messages: [user('hi'), broken, result], notes: [] });
});

test('a conversation of instructions alone, or one that the assistant begins, gets a turn of the user where the wire wants one', () => {
  const system: IrMessage = { role: 'system', parts: [{ kind: 'text', text: 'be brief' }] };
  const said: IrMessage = { role: 'assistant', parts: [{ kind: 'text', text: 'here' }] };
  const roles = (messages: readonly IrMessage[], opening: Dialect['rules']['opening']): string[] =>
    repair(messages, { ...claude, rules: { ...claude.rules, opening } }, none).messages.map(({ role }) => role);
  expect(roles([system], 'user')).toEqual(['system', 'user']);
  expect(roles([system, said], 'user')).toEqual(['system', 'user', 'assistant']);
  expect(roles([system, said], 'somebody')).toEqual(['system', 'assistant']);
  expect(roles([system], 'somebody')).toEqual(['system', 'user']);
  expect(roles([system], 'anyone')).toEqual(['system']);
  expect(repair([said], claude, none).notes).toMatchObject([{ fate: 'emulated', code: 'turn_added' }]);
});
