import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineSplitter, TextTail } from './line-splitter.ts';

function linesOf(chunks: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const chunk of chunks) splitter.push(chunk);
  splitter.flush();
  return lines;
}

it('gives the same lines wherever the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat(50)), (texts, cuts) => {
      const lines = texts.map((text) => text.replaceAll(/[\r\n]/g, ''));
      const whole = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const chunks: Buffer[] = [];
      let at = 0;
      for (const cut of cuts) {
        chunks.push(whole.subarray(at, at + cut));
        at += cut;
      }
      chunks.push(whole.subarray(at));
      expect(linesOf(chunks)).toEqual(lines);
    }),
  );
});

it('takes CRLF for one end and gives the last line without one', () => {
  expect(linesOf([Buffer.from('a\r'), Buffer.from('\nb\n\nc')])).toEqual(['a', 'b', '', 'c']);
});

it('keeps the end of a long text', () => {
  const tail = new TextTail(4);
  for (const text of ['ab', 'cd', 'ef', 'gh', 'i']) tail.add(text);
  expect(tail.text).toBe('fghi');
});

it('hands a long line over in pieces of the size that it is told', () => {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line), undefined, 4);
  for (const part of ['ab', 'cdef', 'gh\n', 'i\n']) splitter.push(Buffer.from(part));
  expect(lines).toEqual(['abcdef', 'gh', 'i']);
});
