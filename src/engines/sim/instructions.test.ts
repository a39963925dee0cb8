import { expect, test } from 'vitest';
import { PHRASES, readSentences } from './instructions.ts';

function acts(text: string) {
  return readSentences(text).map((sentence) => sentence.act);
}

test.each([
  ['call the tool get_weather with {"city": "Paris"}', { kind: 'call', name: 'get_weather', input: '{"city": "Paris"}' }],
  ['Please call the tool `look`.', { kind: 'call', name: 'look', input: undefined }],
  ['call tool mcp__probe__echo with the arguments: {"a":{"b":"}"}}', { kind: 'call', name: 'mcp__probe__echo', input: '{"a":{"b":"}"}}' }],
  ['call the tool run with ```json\n{"a":1}\n```', { kind: 'call', name: 'run', input: '{"a":1}' }],
  ['call the tool note with "free text"', { kind: 'call', name: 'note', input: 'free text' }],
  ['write the text hello into the file out.txt', { kind: 'write', text: 'hello', path: 'out.txt' }],
  ['Write the text "two\nlines" into the file "my file.txt".', { kind: 'write', text: 'two\nlines', path: 'my file.txt' }],
  ['<task>write the text a b to the file /data/o.txt</task>', { kind: 'write', text: 'a b', path: '/data/o.txt' }],
  ['now write the text hi into the file src/a.ts. Thanks', { kind: 'write', text: 'hi', path: 'src/a.ts' }],
  ['fail with 529', { kind: 'fail', status: 529 }],
  ['please fail with status 404 now', { kind: 'fail', status: 404 }],
  ['cut the stream', { kind: 'cut' }],
  ['wait 250 ms', { kind: 'wait', ms: 250, eachWord: false }],
  ['wait 2 seconds', { kind: 'wait', ms: 2000, eachWord: false }],
  ['wait 5 ms between words', { kind: 'wait', ms: 5, eachWord: true }],
  ['say hello world', { kind: 'say', text: 'hello world' }],
  ['Reply with exactly: pong', { kind: 'say', text: 'pong' }],
  ['some context\nanswer with "a. b"\nmore', { kind: 'say', text: 'a. b' }],
  ['<user_query>say hello</user_query>', { kind: 'say', text: 'hello' }],
])('reads %j', (text, act) => {
  expect(acts(text)).toEqual([act]);
});

test.each([
  'think about it',
  'do not say anything',
  'what would you say to a friend',
  'call the tool',
  'fail with 200',
  'fail with 4290',
  'write the text without a target',
  'answer with the result',
])('finds no instruction in %j', (text) => {
  expect(acts(text)).toEqual([]);
});

test('reads several sentences in their order and knows which of them follow', () => {
  expect(readSentences('call the tool a with {} and call the tool b with {"x":1}, then call the tool c. Then say all done')).toEqual([
    { act: { kind: 'call', name: 'a', input: '{}' }, follows: false },
    { act: { kind: 'call', name: 'b', input: '{"x":1}' }, follows: false },
    { act: { kind: 'call', name: 'c', input: undefined }, follows: true },
    { act: { kind: 'say', text: 'all done' }, follows: true },
  ]);
});

test('what is said ends where the next command begins', () => {
  expect(acts('say on my way, then call the tool a with {}')).toEqual([
    { kind: 'say', text: 'on my way' },
    { kind: 'call', name: 'a', input: '{}' },
  ]);
});

test('a command inside quoted text is text', () => {
  expect(acts('write the text "cut the stream and fail with 500" into the file a.txt')).toEqual([
    { kind: 'write', text: 'cut the stream and fail with 500', path: 'a.txt' },
  ]);
});

test('a prompt full of commands is read up to a bound', () => {
  expect(acts('call the tool a with {'.repeat(20_000))).toHaveLength(64);
  expect(acts("write the text 'a ".repeat(20_000))).toEqual([]);
  expect(acts('wait 1 ms '.repeat(500))).toHaveLength(64);
});

test.each(PHRASES)('understands what the documentation shows: $example', ({ example }) => {
  expect(readSentences(example).length).toBe(Math.max(1, example.split(/\.\s/).length));
});
