import { expect, it } from 'vitest';
import { askedWords, harmless, inputWords, short } from './words.ts';

it('names the inputs of a tool without the punctuation of JSON', () => {
  expect(inputWords({ path: 'a.txt', content: 'hello' })).toBe('path: a.txt · content: hello');
  expect(inputWords({ command: 'ls -l' })).toBe('ls -l');
  expect(inputWords({ todos: ['one'], force: true })).toBe('todos: ["one"] · force: true');
  expect(inputWords({})).toBe('');
});

it('reads inputs that come as text', () => {
  expect(inputWords('{"path":"a.txt","limit":3}')).toBe('path: a.txt · limit: 3');
  expect(inputWords('rm -rf build')).toBe('rm -rf build');
});

it('keeps one line of a text and says that there is more', () => {
  expect(short('one\ntwo', 10)).toBe('one…');
  expect(short('twelve letters', 6)).toBe('twelve…');
  expect(short(' \u001b[31mred\u001b[0m ', 10)).toBe('red');
});

it('lets no text write over itself or turn around', () => {
  expect(harmless('rm -rf /\rls \u001b[2Ka\u202eb\tc\nd')).toBe('rm -rf /ls ab\tc\nd');
});

it('shows all that somebody is asked to allow', () => {
  expect(askedWords('one\ntwo\n')).toBe('one\n  two');
  expect(askedWords('x'.repeat(4003))).toBe(`${'x'.repeat(4000)}\n  … 3 more characters`);
});
