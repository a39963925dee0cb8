import { sha256 } from '../../base/canonical-json.ts';
import { DAY_MS, HOUR_MS, type Rollup } from '../../store/usage/rollups.ts';
import type { CallUsage } from './call-usage.ts';
import { Durations } from './durations.ts';

const COUNTED = ['unpriced', 'cost_nano_usd', 'tokens_in', 'tokens_out', 'cache_read', 'thinking'] as const;

/** A sum that grows call by call. */
interface Growing {
  readonly of: Pick<Rollup, 'span' | 'start'> & CallUsage;
  readonly counts: Record<(typeof COUNTED)[number], number>;
  readonly firstByte: Durations;
  readonly total: Durations;
  calls: number;
}

/** Calls added up by hour and by day: call by call by the hour, and the hours of a day when they are written down. */
export class UsageSums {
  readonly #hours = new Map<string, Growing>();

  add(call: CallUsage): void {
    const start = Math.floor(call.startedAt / HOUR_MS) * HOUR_MS;
    const sum = grown(this.#hours, `${start} ${facetsText(call)}`, call, { span: 'h', start });
    sum.calls += 1;
    for (const name of COUNTED) sum.counts[name] += call[name];
    if (call.firstByteMs !== null) sum.firstByte.add(call.firstByteMs);
    if (call.totalMs !== null) sum.total.add(call.totalMs);
  }

  /** Adds what others came to. */
  join(others: UsageSums): void {
    for (const [key, sum] of others.#hours) joinSum(grown(this.#hours, key, sum.of, sum.of), sum);
  }

  /** In the order of their keys: two nodes that write the same rows then do not wait for each other. */
  rollups(): Rollup[] {
    const days = new Map<string, Growing>();
    for (const sum of this.#hours.values()) {
      const start = Math.floor(sum.of.start / DAY_MS) * DAY_MS;
      joinSum(grown(days, `${start} ${facetsText(sum.of)}`, sum.of, { span: 'd', start }), sum);
    }
    const keyOf = ({ span, start, facets }: Rollup): string => `${span} ${start} ${facets}`;
    return [...this.#hours.values(), ...days.values()].map(rollupOf).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }
}

/** The sum under a key, which begins at nothing. */
function grown(sums: Map<string, Growing>, key: string, call: CallUsage, { span, start }: Pick<Rollup, 'span' | 'start'>): Growing {
  const known = sums.get(key);
  if (known !== undefined) return known;
  const counts = { unpriced: 0, cost_nano_usd: 0, tokens_in: 0, tokens_out: 0, cache_read: 0, thinking: 0 };
  const made = { of: { ...call, span, start }, counts, firstByte: new Durations(), total: new Durations(), calls: 0 };
  sums.set(key, made);
  return made;
}

function joinSum(sum: Growing, { counts, firstByte, total, calls }: Growing): void {
  sum.calls += calls;
  for (const name of COUNTED) sum.counts[name] += counts[name];
  sum.firstByte.join(firstByte);
  sum.total.join(total);
}

function facetsText({ engine, model, key_id, agent, status, mode, error, fates, tags }: CallUsage): string {
  return JSON.stringify([engine, model, key_id, agent, status, mode, error, fates, tags]);
}

function rollupOf({ of, counts, firstByte, total, calls }: Growing): Rollup {
  const { startedAt, firstByteMs, totalMs, ...facets } = of;
  const digest = sha256(facetsText(of)).slice(0, 32);
  return { ...facets, ...counts, facets: digest, calls, first_byte: firstByte.text(), total: total.text() };
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
