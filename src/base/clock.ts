/** Time as a value that tests can replace. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/**
 * Whether so much time has passed since a moment of the machine's clock. Where that clock was set back it tells nothing, and what was to wait
 * for it is due: it would otherwise wait for as long as the clock was wrong.
 */
export function hasPassed(ms: number, since: number, now: number): boolean {
  return now - since >= ms || now < since;
}

/** The second that was written last, as text up to its point: times of one batch lie close together, and a calendar is dear. */
let known = { second: Number.NaN, text: '' };

/** RFC 3339 in UTC with milliseconds. */
export function isoTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== known.second) known = { second, text: new Date(second * 1000).toISOString().slice(0, -'000Z'.length) };
  return `${known.text}${String(Math.floor(ms) - second * 1000).padStart(3, '0')}Z`;
}
