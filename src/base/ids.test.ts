import { describe, expect, it } from 'vitest';
import { hyphenate, randomToken, uuidHex, uuidv7Hex } from './ids.ts';

const YEAR_2100 = Date.UTC(2100, 0, 1);

describe('uuidv7Hex', () => {
  it('is 32 hex digits with version 7 and variant 2', () => {
    expect(uuidv7Hex()).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
  });

  it('begins with the time in milliseconds', () => {
    const before = Date.now();
    const time = Number.parseInt(uuidv7Hex().slice(0, 12), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('follows a clock that was far ahead and is set right', () => {
    const ahead = uuidv7Hex(YEAR_2100);
    const right = uuidv7Hex();
    expect(right < ahead).toBe(true);
    expect(Math.abs(Number.parseInt(right.slice(0, 12), 16) - Date.now())).toBeLessThan(60_000);
    expect(uuidv7Hex() > right).toBe(true);
  });

  it('grows with every call, more often than a millisecond has counters and when the clock steps back', () => {
    const ids = Array.from({ length: 10_000 }, (_, at) => uuidv7Hex(YEAR_2100 - (at % 3) * 1000));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(10_000);
  });
});

describe('uuidHex', () => {
  it('takes both spellings', () => {
    expect(uuidHex('0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b')).toBe('0190a1b2c3d47e5f8a9b0c1d2e3f4a5b');
    expect(uuidHex('0190a1b2c3d47e5f8a9b0c1d2e3f4a5b')).toBe('0190a1b2c3d47e5f8a9b0c1d2e3f4a5b');
    expect(hyphenate('0190a1b2c3d47e5f8a9b0c1d2e3f4a5b')).toBe('0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b');
  });

  it.each(['', '0190a1b2c3d47e5f8a9b0c1d2e3f4a5', '0190a1b2c3d47e5f8a9b0c1d2e3f4a5bb', 'g190a1b2c3d47e5f8a9b0c1d2e3f4a5b', '../etc'])(
    'refuses %j',
    (text) => {
      expect(uuidHex(text)).toBeUndefined();
    },
  );
});

it('randomToken is URL-safe, as long as asked for and never the same', () => {
  const tokens = Array.from({ length: 100 }, () => randomToken(32));
  for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/);
  expect(new Set(tokens).size).toBe(100);
});
