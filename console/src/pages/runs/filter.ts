import { duration, time } from '../../base/format.ts';
import type { UrlState } from '../../base/url-state.ts';

/** Names of the filter language and the parameters they become. */
const NAMES: Readonly<Record<string, string>> = {
  engine: 'engine',
  model: 'model',
  status: 'status',
  mode: 'mode',
  fate: 'fate',
  key: 'key',
  unkeyed: 'unkeyed',
  tag: 'tag',
  plane: 'plane',
  agent: 'agent',
  reason: 'reason',
  since: 'since',
  until: 'until',
  before: 'before',
};
export const FILTER_NAMES = Object.keys(NAMES);

const MEASURED: ReadonlySet<string> = new Set(['min_cost_nano_usd', 'min_ms']);
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, '': 1 };
const NANO = 1_000_000_000;

/** Values that are offered for a name. */
export const VALUES: Readonly<Record<string, readonly string[]>> = {
  status: ['completed', 'failed', 'cancelled', 'running'],
  mode: ['passthrough', 'mapped'],
  fate: ['exact', 'renamed', 'emulated', 'dropped', 'refused'],
  plane: ['gateway', 'run', 'agent'],
  unkeyed: ['true'],
};

const TOKEN = /(\w+):("[^"]*"|\S+)|(cost|duration)\s*>=?\s*\$?(\d*\.?\d+)(?:\s*(ms|s|m|h)\b)?|"([^"]*)"|(\S+)/g;

/** A line of the filter language as parameters: `engine:gemini cost>0.1 duration>5s "text"`. */
export function parseFilter(text: string): UrlState {
  const found: Record<string, string> = {};
  const words: string[] = [];
  for (const [whole, name, value, measure, number, unit, quoted, word] of text.matchAll(TOKEN)) {
    if (name !== undefined && NAMES[name] !== undefined) found[name] = (value ?? '').replaceAll('"', '');
    else if (measure === 'cost') found.min_cost_nano_usd = String(Math.round(Number(number) * NANO));
    else if (measure === 'duration') found.min_ms = String(Number(number) * (UNITS[unit ?? ''] ?? 1));
    else words.push(quoted ?? word ?? whole);
  }
  if (words.length > 0) found.q = words.join(' ');
  return found;
}

/** The chips of what is set: how each reads, and which parameter it is. */
export function chipsOf(state: UrlState): readonly (readonly [string, string])[] {
  return Object.entries(state).flatMap(([name, value]): (readonly [string, string])[] => {
    const words = value === undefined ? undefined : chip(name, value);
    return words === undefined ? [] : [[name, words]];
  });
}

function chip(name: string, value: string): string | undefined {
  if (name === 'span') return `since ${SPANS.find(([span]) => span === value)?.[2] ?? duration(Number(value))}`;
  if (name === 'since' || name === 'until' || name === 'before') return `${name} ${time(value)}`;
  if (MEASURED.has(name) && !/^\d+(\.\d+)?$/.test(value)) return `${name} ${value}`;
  if (name === 'min_cost_nano_usd') return `cost > $${Number(value) / NANO}`;
  if (name === 'min_ms') return `duration > ${Number(value) / 1000} s`;
  if (name === 'unkeyed' && value === 'true') return 'without a key';
  if (name === 'key' && value.startsWith('key_')) return `key …${value.slice(-6)}`;
  if (name === 'q') return `“${value}”`;
  return NAMES[name] === undefined ? undefined : `${name} ${value}`;
}

/** What of the state is a filter. */
export function filterOf(state: UrlState): Record<string, string | undefined> {
  return Object.fromEntries([...FILTER_NAMES, 'min_cost_nano_usd', 'min_ms', 'q'].map((name) => [name, state[name]]));
}

const TIMES = new Set(['since', 'until', 'before']);

/** The filter without its times: what a kept view is made of. */
export function viewFilter(state: UrlState): UrlState {
  return Object.fromEntries(Object.entries(filterOf(state)).filter(([name, value]) => value !== undefined && !TIMES.has(name)));
}

/** Ten cents, in billionths of a dollar. */
export const DEAR = '100000000';

/** Kept views; the counts are asked for with the same filters. */
export const VIEWS: readonly { readonly name: string; readonly filter: UrlState }[] = [
  { name: 'All', filter: {} },
  { name: 'Failed', filter: { status: 'failed' } },
  { name: 'Refused before spending', filter: { fate: 'refused' } },
  { name: 'Mapped with losses', filter: { fate: 'dropped' } },
  { name: 'Coding agents', filter: { plane: 'run' } },
  { name: 'Over $0.10', filter: { min_cost_nano_usd: DEAR } },
];

/** How far back the list goes: milliseconds, the words of the menu and of the chip. */
export const SPANS = [
  ['3600000', 'Last hour', '1 h'],
  ['7200000', 'Last 2 hours', '2 h'],
  ['86400000', 'Last day', '1 day'],
  ['604800000', 'Last 7 days', '7 days'],
  ['2592000000', 'Last 30 days', '30 days'],
] as const;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const MONTH = 30 * 24 * HOUR;

/**
 * How much time the histogram covers: what was chosen, else at least the first page of the list. An open end is counted in whole minutes:
 * the histogram is asked for again when this changes.
 */
export function shownSpan(state: UrlState, oldest: string | undefined, now = Date.now()): number {
  if (state.span !== undefined) return Number(state.span);
  if (state.since !== undefined) {
    const until = state.until === undefined ? Math.ceil(now / MINUTE) * MINUTE : Date.parse(state.until);
    return Math.max(HOUR / 12, until - Date.parse(state.since));
  }
  const age = oldest === undefined ? 0 : now - Date.parse(oldest);
  return [HOUR, 2 * HOUR, 24 * HOUR, 7 * 24 * HOUR].find((span) => span >= age) ?? MONTH;
}

/** The state with the beginning that its span means, to the minute, so that asking again asks the same. */
export function withSince(state: UrlState, now: number): UrlState {
  if (state.span === undefined || state.since !== undefined) return state;
  return { ...state, since: new Date(Math.floor((now - Number(state.span)) / MINUTE) * MINUTE).toISOString() };
}

export function isView(state: UrlState, filter: UrlState): boolean {
  const set = Object.entries(filterOf(state)).filter(([name, value]) => value !== undefined && !TIMES.has(name));
  return set.length === Object.keys(filter).length && set.every(([name, value]) => filter[name] === value);
}
