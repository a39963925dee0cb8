import { expect, it } from 'vitest';
import { type LineHandlers, readLine } from './reader.ts';

const HANDLERS: LineHandlers<string[]> = {
  note: (heard, line) => {
    heard.push(String(line.text));
    return [{ type: 'interrupted' }];
  },
  last: () => ({ events: [], send: ['bye'], done: true }),
};

it('gives a line to the handler of its type', () => {
  const heard: string[] = [];
  expect(readLine(heard, HANDLERS, '{"type":"note","text":"a"}')).toEqual({ events: [{ type: 'interrupted' }] });
  expect(heard).toEqual(['a']);
});

it('lets a handler answer and end', () => {
  expect(readLine([], HANDLERS, '{"type":"last"}')).toEqual({ events: [], send: ['bye'], done: true });
});

it.each(['{"type":"note","te', 'plain words', '[1]', '{"type":"constructor"}', '{"no":"type"}', '{"type":7}'])(
  'keeps %s as a line of the log',
  (line) => {
    expect(readLine([], HANDLERS, line)).toEqual({ events: [{ type: 'log', source: 'stdout', line }] });
  },
);

it('keeps a line that is nested deeper than code can walk as a line of the log', () => {
  const line = `{"type":"note","text":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  expect(readLine([], HANDLERS, line)).toEqual({ events: [{ type: 'log', source: 'stdout', line }] });
});

it('says nothing about a blank line', () => {
  expect(readLine([], HANDLERS, '  ')).toEqual({ events: [] });
});

it('can be told where the type stands', () => {
  expect(readLine([], HANDLERS, '{"kind":"last"}', (line) => String(line.kind)).done).toBe(true);
});
