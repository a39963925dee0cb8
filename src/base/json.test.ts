import { describe, expect, test } from 'vitest';
import { isJsonObject, nearestDouble, parseJson, parseJsonObject } from './json.ts';

function again(text: string): string {
  const parsed = parseJson(text);
  return parsed.ok ? JSON.stringify(parsed.value) : parsed.message;
}

describe('numbers of JSON text', () => {
  test.each([
    '12345678901234567890',
    '-9007199254740993',
    '9007199254740992',
    '0.1234567890123456789',
    '123456789.123456789',
    '1e400',
    '-1e-400',
    '0.30000000000000004',
    '{"id":12345678901234567890,"list":[1e999,2.5]}',
  ])('%s is written as it was read', (text) => {
    expect(again(text)).toBe(text);
  });

  test.each([
    ['1.0', '1'],
    ['1700000000000000000', '1700000000000000000'],
    ['1.50e003', '1500'],
    ['-0.0000000000000000', '0'],
  ])('%s is the number %s, which nothing is lost of', (text, number) => {
    expect(again(text)).toBe(number);
    const parsed = parseJson(text);
    expect(parsed.ok && typeof parsed.value).toBe('number');
  });

  test('one that keeps its digits is no object to a reader', () => {
    const id = parseJsonObject('{"id":12345678901234567890}')?.id;
    expect(isJsonObject(id)).toBe(false);
    expect(nearestDouble(id)).toBe(Number('12345678901234567890'));
    expect(nearestDouble('12')).toBeUndefined();
  });

  test('digits of a digest, of an image and of a sentence are text', () => {
    const digest = '3e1234567890123456789012';
    expect(again(`{"sha":"${digest}","at":12}`)).toBe(`{"sha":"${digest}","at":12}`);
    expect(again('{"id":"12345678901234567890 and 1e400"}')).toBe('{"id":"12345678901234567890 and 1e400"}');
  });
});
