import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { receiptInLine, verifyForeign } from './verify-foreign.ts';

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the receipt in the last line of a sidecar', () => {
  // By code point the second comes last; by the units of a JavaScript text it would come first.
  const hash = digestOf('{"a":{"b":1.0,"c":"é\\n"},"receipt_sha256":null,"\uffff":1,"\u{1f600}":2}');
  const line = (a: string, more = ''): string =>
    `{"t":"final","receipt":{"\u{1f600}":2,"receipt_sha256":"${hash}","\\uffff":1,"a":${a}${more}},"ref_id":"r"}`;
  const RIGHT = '{"c":"\\u00e9\\n","b":1.0}';

  it('has the right hash in any order and spelling, with the digits as they were written', () => {
    const whole = `{"a":{"b":1.0,"c":"é\\n"},"receipt_sha256":"${hash}","\uffff":1,"\u{1f600}":2}`;
    expect(receiptInLine(line(RIGHT))).toEqual({ sha256: digestOf(whole), verified: true });
    expect(verifyForeign(whole)).toMatchObject({ ok: true });
  });

  it.each([
    ['another digit', line(RIGHT.replace('1.0', '1'))],
    ['a member twice', line(RIGHT, ',"a":1')],
  ])('has a wrong one after a change: %s', (_, text) => {
    expect(receiptInLine(text)?.verified).toBe(false);
  });

  it('has none where it names none', () => {
    expect(receiptInLine('{"t":"final","receipt":{"receipt_sha256":null}}')?.verified).toBeNull();
    expect(receiptInLine('{"t":"final"}')).toBeUndefined();
  });
});
