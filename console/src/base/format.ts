const NANO = 1_000_000_000;

/** `1,204`, `18.2k`, `254 M`: three figures from ten thousand on. */
export function count(value: number): string {
  if (value < 10_000) return value.toLocaleString('en-US');
  if (value < 1_000_000) return `${three(value / 1000)}k`;
  return `${three(value / 1_000_000)} M`;
}

function three(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(1);
}

export function whole(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 call`, `1,204 calls`. */
export function many(value: number, what: string): string {
  return `${whole(value)} ${what}${value === 1 ? '' : 's'}`;
}

/** `6.7 ms`, `611 ms`, `2.41 s`, `4:12`, `3 h 04`. */
export function duration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes}:${String(Math.floor((ms % 60_000) / 1000)).padStart(2, '0')}`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')}`;
}

/** Steps between the marks of a scale of time, in milliseconds: from a twentieth of one to a quarter of a day. */
const STEPS = [
  ...[0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000],
  ...[1, 2, 5, 10, 15, 30, 60, 120, 360].map((minutes) => minutes * 60_000),
];

/** Round marks of a scale of time: at most `most` of them after the first, the last one clear of the end. */
export function timeMarks(total: number, most = 5): readonly { readonly at: number; readonly words: string }[] {
  const step = STEPS.find((one) => total / one <= most) ?? total / most;
  const many = total <= 0 ? 0 : Math.floor((total * 0.97) / step);
  return Array.from({ length: many + 1 }, (_, index) => ({ at: index * step, words: markWords(index * step, total) }));
}

/** All marks of a scale are in one unit. */
function markWords(ms: number, total: number): string {
  if (ms === 0) return '0';
  if (total < 1000) return `${Number(ms.toFixed(2))} ms`;
  if (total < 60_000) return `${Number((ms / 1000).toFixed(2))} s`;
  return ms < 60_000 ? `0:${String(ms / 1000).padStart(2, '0')}` : duration(ms);
}

/** Waiting in words: `38 s`, `1 m 12 s`. */
export function waiting(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} m ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}

/** From billionths of a dollar: `$0.0043`, `$12.40`, `< $0.0001`; null is no price, which is not zero. */
export function cost(nano: number | null): string {
  if (nano === null) return 'no price';
  if (nano === 0) return '$0';
  const dollars = nano / NANO;
  if (dollars < 0.0001) return '< $0.0001';
  return dollars < 1
    ? `$${dollars.toFixed(4)}`
    : `$${dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** A limit that somebody set: no more decimals than it has, at least cents. */
export function limit(nano: number): string {
  return `$${(nano / NANO).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`;
}

/** A price of a million tokens, from dollars: at least cents. */
export function price(dollars: number): string {
  return `$${dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`;
}

/** A sum of prices beside calls that have none: where nothing has a price, the sum is no price and not zero. */
export function sumCost(nano: number, unpriced: number): string {
  return nano === 0 && unpriced > 0 ? 'no price' : cost(nano);
}

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  if (value < 1_000_000) return `${(value / 1000).toFixed(1)} kB`;
  if (value < 1_000_000_000) return `${(value / 1_000_000).toFixed(1)} MB`;
  return `${(value / 1_000_000_000).toFixed(1)} GB`;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
const dayAndTime = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hour12: false });
const fullDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' });
const dayOnly = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** Today `21:38:48`, this year `3 Nov, 21:38`, else with the year. */
export function time(value: string | number, now = new Date()): string {
  const date = new Date(value);
  if (date.toDateString() === now.toDateString()) return clock.format(date);
  return date.getFullYear() === now.getFullYear() ? dayAndTime.format(date) : fullDay.format(date);
}

/** With milliseconds, for the page of one run. */
export function exactTime(value: string | number): string {
  const date = new Date(value);
  return `${clock.format(date)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

export function day(value: string | number): string {
  return dayOnly.format(new Date(value));
}

export function hourMinute(value: string | number): string {
  return clock.format(new Date(value)).slice(0, 5);
}

/** The last six digits of a run id. */
export function shortId(id: string): string {
  return id.slice(-6);
}

/** `410feeaa…89f5de`. */
export function digest(sha: string): string {
  return `${sha.slice(0, 8)}…${sha.slice(-6)}`;
}
