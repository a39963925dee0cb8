import { expect, it } from 'vitest';
import { agoText, durationText, timeOf } from './time.ts';

const NOW = Date.parse('2026-11-16T08:00:00Z');

it('reads times as people write them', () => {
  expect(timeOf('24h', NOW)).toBe(NOW - 86_400_000);
  expect(timeOf('90m', NOW)).toBe(NOW - 5_400_000);
  expect(timeOf('2w', NOW)).toBe(NOW - 14 * 86_400_000);
  expect(timeOf('2026-11-01', NOW)).toBe(Date.parse('2026-11-01'));
  expect(timeOf('now', NOW)).toBe(NOW);
  const midnight = new Date(timeOf('today', NOW));
  expect([midnight.getHours(), midnight.getMinutes(), midnight.getTime() <= NOW]).toEqual([0, 0, true]);
  const before = new Date(timeOf('yesterday', NOW));
  expect([before.getHours(), new Date(midnight.getTime() - 3_600_000 * 12).getDate()]).toEqual([0, before.getDate()]);
  expect(() => timeOf('soon', NOW)).toThrow("'soon' is not a time");
});

it.each([
  ['2026-11-16T07:59:30Z', '30 s ago'],
  ['2026-11-16T07:15:00Z', '45 min ago'],
  ['2026-11-16T02:00:00Z', '6 h ago'],
  ['2026-11-13T08:00:00Z', '3 d ago'],
  ['2026-10-01T08:00:00Z', '2026-10-01'],
])('shows %s as %s', (iso, text) => {
  expect(agoText(iso, NOW)).toBe(text);
});

it.each([
  [6.74, '6.7 ms'],
  [611, '611 ms'],
  [2414, '2.41 s'],
  [252_000, '4:12 min'],
  [11_040_000, '3 h 04'],
])('shows %d ms as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
