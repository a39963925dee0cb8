import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { processorMs } from '../../test/support/processor-time.ts';
import { decodeSse, encodeSse, SseFrames, SseFrameTooLong } from './sse.ts';

function framesOf(chunks: readonly Buffer[]): string[] {
  const frames = new SseFrames();
  return [...chunks.flatMap((chunk) => frames.push(chunk)), ...frames.flush()].map((frame) => frame.toString('utf8'));
}

function framesOfText(text: string): string[] {
  return framesOf([Buffer.from(text, 'utf8')]);
}

/** The text cut after the given shares of its bytes, so also inside characters and line ends. */
function cut(text: string, shares: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text, 'utf8');
  const places = [...shares.map((share) => Math.floor(share * bytes.length)), bytes.length].sort((a, b) => a - b);
  return places.map((place, at) => bytes.subarray(places[at - 1] ?? 0, place));
}

const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const value = fc.string({ unit: fc.constantFrom('a', ':', ' ', '{', '"', 'é', '漢', '😀', '\u2028', '\u0085') });
const line = fc.oneof(
  value.map((text) => `data: ${text}`),
  value.map((text) => `event:${text}`),
  value.map((text) => `: ${text}`),
  fc.constant('id'),
);
const stream = fc
  .array(fc.tuple(fc.array(line, { maxLength: 3 }), lineEnd))
  .map((frames) => frames.map(([lines, end]) => `${lines.map((text) => text + end).join('')}${end}`).join(''));

describe('SseFrames', () => {
  it('gives the same frames however the network cuts the bytes', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (text, shares) => {
        expect(framesOf(cut(text, shares))).toEqual(framesOfText(text));
      }),
      { numRuns: 500 },
    );
  });

  it('gives the same frames byte by byte', () => {
    const text = 'event: a\r\ndata: é\r\n\r\n: keep-alive\r\n\r\ndata: 😀\r\rdata: x\n\n';
    expect(framesOf([...Buffer.from(text)].map((byte) => Buffer.of(byte)))).toEqual([
      'event: a\r\ndata: é\r\n\r\n',
      'data: 😀\r\r',
      'data: x\n\n',
    ]);
  });

  it('gives up on a frame that does not end', () => {
    const frames = new SseFrames(100);
    expect(frames.push(Buffer.from(`data: ${'x'.repeat(94)}`))).toEqual([]);
    expect(() => frames.push(Buffer.from('x'))).toThrow(new SseFrameTooLong(100));
  });

  it('does not give up on a long stream of short frames, and does on lines whose frame goes on', () => {
    const frames = new SseFrames(100);
    const piece = Buffer.from('ta: 1234567890\n\nda');
    expect(frames.push(Buffer.from('da'))).toEqual([]);
    for (let count = 0; count < 100; count += 1) expect(frames.push(piece)).toHaveLength(1);
    expect(() => Array.from({ length: 20 }, () => frames.push(Buffer.from('data: 1\n')))).toThrow(SseFrameTooLong);
  });

  it('reads a long frame in many pieces in time that grows with its length', () => {
    const frames = new SseFrames(64 * 1024 * 1024);
    const piece = Buffer.alloc(1024, 'x');
    const took = processorMs(() => {
      frames.push(Buffer.from('data: '));
      for (let count = 0; count < 32 * 1024; count += 1) frames.push(piece);
      expect(frames.push(Buffer.from('\n\n'))[0]?.length).toBe(32 * 1024 * 1024 + 8);
    });
    expect(took).toBeLessThan(5000);
  });

  it('loses no byte of an event', () => {
    fc.assert(
      fc.property(fc.array(value), (values) => {
        const written = values.map((text) => encodeSse({ event: 'e', data: text }));
        expect(framesOfText(written.join(''))).toEqual(written);
      }),
    );
  });

  it.each([
    ['LF', 'data: 1\n\ndata: 2\n\n', ['data: 1\n\n', 'data: 2\n\n']],
    ['CRLF', 'data: 1\r\n\r\ndata: 2\r\n\r\n', ['data: 1\r\n\r\n', 'data: 2\r\n\r\n']],
    ['CR', 'data: 1\r\rdata: 2\r\r', ['data: 1\r\r', 'data: 2\r\r']],
    ['mixed line ends', 'data: 1\r\n\ndata: 2\n\r\n', ['data: 1\r\n\n', 'data: 2\n\r\n']],
  ])('ends frames at a blank line of %s', (_, text, frames) => {
    expect(framesOfText(text)).toEqual(frames);
  });

  it('does not take U+2028, U+2029 or U+0085 for a line end', () => {
    const text = 'data: a\u2028\u2028b\u2029c\u0085\u0085d\n\n';
    expect(framesOfText(text)).toEqual([text]);
  });

  it('skips comments and empty frames and keeps a comment that stands before a field', () => {
    expect(framesOfText(': keep-alive\n\n\n\n:\n: two\n\n: note\ndata: 1\n\n')).toEqual([': note\ndata: 1\n\n']);
  });

  it('gives the event that the stream left unterminated when flushed', () => {
    expect(framesOfText('data: 1\n\ndata: 2\n')).toEqual(['data: 1\n\n', 'data: 2\n']);
    expect(framesOfText('data: 1\r\n\r')).toEqual(['data: 1\r\n\r']);
  });
});

describe('decodeSse', () => {
  it.each([
    ['data: a\ndata: b\n\n', { event: '', data: 'a\nb' }],
    ['event: ping\r\ndata:  two spaces\r\nid: 7\r\n\r\n', { event: 'ping', data: ' two spaces', id: '7' }],
    [': comment\rdata\rdata:x\r\r', { event: '', data: '\nx' }],
    ['data: {"a":"\u2028:"}\n\n', { event: '', data: '{"a":"\u2028:"}' }],
  ])('reads %j', (text, event) => {
    expect(decodeSse(Buffer.from(text))).toEqual(event);
  });

  it('reads back what encodeSse writes', () => {
    const data = fc.string({ unit: fc.constantFrom('a', ':', ' ', '\n', '😀', '\u2028') });
    fc.assert(
      fc.property(data, (text) => {
        expect(decodeSse(Buffer.from(encodeSse({ event: 'e', id: '1', data: text })))).toEqual({ event: 'e', id: '1', data: text });
      }),
    );
  });
});
