import type { Period } from './budget.ts';

/** One period of a budget, in milliseconds since the epoch. `end` is the beginning of the next one, infinity where there is none. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** The first Monday after the epoch, which was a Thursday. */
const FIRST_MONDAY = 4 * DAY_MS;

const WINDOWS: Readonly<Record<Period, (now: number) => Window>> = {
  hour: (now) => every(HOUR_MS, 0, now),
  day: (now) => every(DAY_MS, 0, now),
  week: (now) => every(WEEK_MS, FIRST_MONDAY, now),
  month: (now) => {
    const date = new Date(now);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
  },
  total: () => ({ start: 0, end: Number.POSITIVE_INFINITY }),
};

function every(length: number, first: number, now: number): Window {
  const start = Math.floor((now - first) / length) * length + first;
  return { start, end: start + length };
}

/** The period that a time lies in, by UTC. */
export function windowAt(period: Period, now: number): Window {
  return WINDOWS[period](now);
}
