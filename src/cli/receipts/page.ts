import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { compact } from '../numbers.ts';
import type { Paint } from '../output.ts';

const NANO = 1e9;

/** A value as one line of a page shows it. */
export function shown(value: Json | undefined): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function member(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

export function statusText(status: Json | undefined, paint: Paint): string {
  const text = shown(status);
  if (text === 'completed') return paint.good(text);
  return text === 'failed' || text === 'cancelled' ? paint.bad(text) : paint.warn(text);
}

/** Dollars, with as many digits as small costs need. */
export function nanoText(nano: number): string {
  if (nano === 0) return '$0';
  const dollars = nano / NANO;
  if (dollars < 0.0001) return '< $0.0001';
  return `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
}

/** The cost of a receipt; what was used and has none is told, because it is not free. */
export function costText({ cost, usage }: JsonObject): string {
  const nano = member(cost, 'nano_usd');
  if (typeof nano === 'number') return nanoText(nano);
  return isJsonObject(usage) ? 'no price' : '–';
}

export function digestText(digest: Json | undefined): string {
  if (!isJsonObject(digest)) return '–';
  const { sha256, bytes, status } = digest;
  return `${status === undefined ? '' : `${shown(status)}, `}${shown(bytes)} bytes, sha256 ${shown(sha256)}`;
}

const FURTHER = ['cache_read_tokens', 'cache_write_tokens', 'thinking_tokens', 'web_search_requests'] as const;

export function usageText(usage: Json | undefined): string {
  if (!isJsonObject(usage)) return '–';
  const number = (value: Json | undefined): string => (typeof value === 'number' ? compact(value) : shown(value));
  const counts = [
    `${number(usage.input_tokens)} in`,
    `${number(usage.output_tokens)} out`,
    ...FURTHER.filter((name) => usage[name] !== 0).map(
      (name) => `${number(usage[name])} ${name.replaceAll('_', ' ').replace(' tokens', '')}`,
    ),
  ];
  return `${counts.join(', ')}${usage.estimated === true ? ' (estimated)' : ''}`;
}
