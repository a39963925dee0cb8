import { expect, it } from 'vitest';
import type { Period } from './budget.ts';
import { windowAt } from './period.ts';

const rows: [Period, string, string, string][] = [
  ['hour', '2026-11-16T10:59:59.999Z', '2026-11-16T10:00:00.000Z', '2026-11-16T11:00:00.000Z'],
  ['hour', '2026-11-16T11:00:00.000Z', '2026-11-16T11:00:00.000Z', '2026-11-16T12:00:00.000Z'],
  ['day', '2026-11-16T23:59:59.999Z', '2026-11-16T00:00:00.000Z', '2026-11-17T00:00:00.000Z'],
  ['week', '2026-11-15T23:59:59.999Z', '2026-11-09T00:00:00.000Z', '2026-11-16T00:00:00.000Z'],
  ['week', '2026-11-16T00:00:00.000Z', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
  ['month', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ['month', '2028-02-29T12:00:00.000Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
];

it.each(rows)('the %s of %s is from %s to %s', (period, now, start, end) => {
  expect(windowAt(period, Date.parse(now))).toEqual({ start: Date.parse(start), end: Date.parse(end) });
});

it('a total has no end', () => {
  expect(windowAt('total', Date.now())).toEqual({ start: 0, end: Number.POSITIVE_INFINITY });
});
