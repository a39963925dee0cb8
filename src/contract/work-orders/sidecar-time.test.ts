import fc from 'fast-check';
import { expect, it } from 'vitest';
import { normalTime, SidecarTime } from './sidecar-time.ts';

it.each([
  ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
  ['2026-01-02T03:04:05.000Z', '2026-01-02T03:04:05Z'],
  ['2026-01-02T03:04:05.5Z', '2026-01-02T03:04:05.500Z'],
  ['2026-01-02T03:04:05.1234Z', '2026-01-02T03:04:05.123400Z'],
  ['2026-01-02T03:04:05.123456789Z', '2026-01-02T03:04:05.123456789Z'],
  ['2026-01-01T23:34:05.25-03:30', '2026-01-02T03:04:05.250Z'],
])('writes %s as %s', (text, expected) => {
  expect(normalTime(text)).toBe(expected);
});

it('refuses what is no timestamp', () => {
  for (const text of ['2026-02-30T00:00:00Z', '2026-01-02 03:04:05Z', '2026-01-02', 'now']) {
    expect(SidecarTime.safeParse(text).success).toBe(false);
  }
});

it('keeps the instant and leaves a normal form alone', () => {
  const instant = fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true });
  fc.assert(
    fc.property(instant, (date) => {
      const normal = normalTime(date.toISOString());
      expect(new Date(normal).getTime()).toBe(date.getTime());
      expect(normalTime(normal)).toBe(normal);
    }),
  );
});
