import { sha256 } from '../../base/canonical-json.ts';
import { DAY_MS, HOUR_MS, type Rollup } from '../../store/usage/rollups.ts';
import type { CallFacets, CallFigures, CallUsage } from './call-usage.ts';
import { Durations } from './durations.ts';

const COUNTED = ['unpriced', 'cost_nano_usd', 'tokens_in', 'tokens_out', 'cache_read', 'thinking', 'reached'] as const;

/** Facets with a text that no others have. */
export interface KnownFacets {
  readonly of: CallFacets;
  readonly text: string;
}

/** Of the call itself its facets alone are kept. */
export function knownFacets({ engine, model, key_id, agent, status, mode, error, fates, tags }: CallFacets): KnownFacets {
  const of = { engine, model, key_id, agent, status, mode, error, fates, tags };
  return { of, text: JSON.stringify(Object.values(of)) };
}

/** A sum that grows call by call. */
interface Growing {
  readonly facets: KnownFacets;
  readonly counts: Record<(typeof COUNTED)[number], number>;
  readonly firstByte: Durations;
  readonly total: Durations;
  calls: number;
}

/** Sums of one span of time, by the text of their facets. */
type Sums = Map<string, Growing>;

/** Calls added up by hour and by day: call by call by the hour, and the hours of a day when they are written down. */
export class UsageSums {
  readonly #hours = new Map<number, Sums>();

  add(call: CallUsage): void {
    this.count(knownFacets(call), call);
  }

  count(facets: KnownFacets, figures: CallFigures): void {
    const sum = grown(sumsAt(this.#hours, Math.floor(figures.startedAt / HOUR_MS) * HOUR_MS), facets);
    sum.calls += 1;
    for (const name of COUNTED) sum.counts[name] += figures[name];
    if (figures.firstByteMs !== null) sum.firstByte.add(figures.firstByteMs);
    if (figures.totalMs !== null) sum.total.add(figures.totalMs);
  }

  /** Adds what others came to. */
  join(others: UsageSums): void {
    for (const [start, sums] of others.#hours) joinSums(sumsAt(this.#hours, start), sums);
  }

  /** In the order of their keys: two nodes that write the same rows then do not wait for each other. */
  rollups(): Rollup[] {
    const days = new Map<number, Sums>();
    for (const [start, sums] of this.#hours) joinSums(sumsAt(days, Math.floor(start / DAY_MS) * DAY_MS), sums);
    const keyOf = ({ span, start, facets }: Rollup): string => `${span} ${start} ${facets}`;
    return [...rollupsOf('h', this.#hours), ...rollupsOf('d', days)].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }
}

function sumsAt(spans: Map<number, Sums>, start: number): Sums {
  const sums = spans.get(start) ?? new Map();
  spans.set(start, sums);
  return sums;
}

/** The sum of these facets, which begins at nothing. */
function grown(sums: Sums, facets: KnownFacets): Growing {
  const known = sums.get(facets.text);
  if (known !== undefined) return known;
  const counts = { unpriced: 0, cost_nano_usd: 0, tokens_in: 0, tokens_out: 0, cache_read: 0, thinking: 0, reached: 0 };
  const made = { facets, counts, firstByte: new Durations(), total: new Durations(), calls: 0 };
  sums.set(facets.text, made);
  return made;
}

function joinSums(sums: Sums, others: Sums): void {
  for (const { facets, counts, firstByte, total, calls } of others.values()) {
    const sum = grown(sums, facets);
    sum.calls += calls;
    for (const name of COUNTED) sum.counts[name] += counts[name];
    sum.firstByte.join(firstByte);
    sum.total.join(total);
  }
}

function rollupsOf(span: Rollup['span'], spans: ReadonlyMap<number, Sums>): Rollup[] {
  return [...spans].flatMap(([start, sums]) => [...sums.values()].map((sum) => rollupOf(span, start, sum)));
}

function rollupOf(span: Rollup['span'], start: number, { facets, counts, firstByte, total, calls }: Growing): Rollup {
  const sums = { ...facets.of, ...counts, calls, first_byte: firstByte.text(), total: total.text() };
  return { ...sums, span, start, facets: digestOf(facets.text), late_of: 0 };
}

function digestOf(text: string): string {
  return sha256(text).slice(0, 32);
}

/** The same for calls of which another chain has the receipts: what they have really used (1), or what those receipts say, taken out again (-1). */
export function lateRollup(sum: Rollup, of: number, sign: 1 | -1): Rollup {
  const row = { ...sum, facets: digestOf(`${sum.facets} late ${of} ${sign}`), late_of: of };
  if (sign === 1) return row;
  const taken = { calls: -row.calls, first_byte: takenDurations(row.first_byte), total: takenDurations(row.total) };
  return { ...row, ...taken, ...Object.fromEntries(COUNTED.map((name) => [name, 0 - row[name]])) };
}

function takenDurations(text: string): string {
  const taken = new Durations();
  taken.take(text);
  return taken.text();
}

/** Two sums of the same facets as one. */
export function mergeRollups(one: Rollup, other: Rollup): Rollup {
  return {
    ...one,
    calls: one.calls + other.calls,
    unpriced: one.unpriced + other.unpriced,
    cost_nano_usd: one.cost_nano_usd + other.cost_nano_usd,
    tokens_in: one.tokens_in + other.tokens_in,
    tokens_out: one.tokens_out + other.tokens_out,
    cache_read: one.cache_read + other.cache_read,
    thinking: one.thinking + other.thinking,
    reached: one.reached + other.reached,
    first_byte: mergedDurations(one.first_byte, other.first_byte),
    total: mergedDurations(one.total, other.total),
  };
}

function mergedDurations(one: string, other: string): string {
  if (one === '' || other === '') return one || other;
  const both = Durations.of(one);
  both.read(other);
  return both.text();
}
