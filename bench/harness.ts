/** Where a set of samples lies. */
export interface Spread {
  readonly median: number;
  readonly p25: number;
  readonly p75: number;
  readonly min: number;
  readonly max: number;
}

export type Verdict = 'met' | 'not met' | 'void' | 'no target' | 'not run';

/** One line of a bench's verdicts. */
export interface Finding {
  readonly what: string;
  readonly figure: string;
  readonly target: string;
  readonly verdict: Verdict;
}

/** What a bench hands to the report. */
export interface BenchReport {
  readonly title: string;
  /** How it was measured, in sentences. */
  readonly method: string;
  readonly findings: readonly Finding[];
  /** Details: the first row is the head. */
  readonly table: readonly (readonly string[])[];
}

/** Fewer pairs than this say too little about a noisy machine. */
const FEWEST_ROUNDS = 10;
/** When the floor against itself is outside, the machine was too busy to measure anything. */
const FLOOR_BAND = { low: 0.95, high: 1.05 } as const;

export function spread(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b);
  return { median: at(sorted, 0.5), p25: at(sorted, 0.25), p75: at(sorted, 0.75), min: at(sorted, 0), max: at(sorted, 1) };
}

/** Quantile by linear interpolation. */
function at(sorted: readonly number[], quantile: number): number {
  const place = (sorted.length - 1) * quantile;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

/**
 * Measures every variant once per round. Each comes first, second and last equally often, and after each of the others, so that neither
 * the machine's mood nor what ran just before favours one of them. The result has one sample per round for each variant.
 */
export async function interleave<V extends string, S>(
  variants: readonly V[],
  rounds: number,
  measure: (variant: V) => Promise<S>,
): Promise<Map<V, S[]>> {
  if (rounds < FEWEST_ROUNDS) throw new RangeError(`${rounds} rounds are too few, ${FEWEST_ROUNDS} are needed`);
  const samples = new Map<V, S[]>(variants.map((variant) => [variant, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const variant of orderOf(variants, round)) samples.get(variant)?.push(await measure(variant));
  }
  return samples;
}

function orderOf<V>(variants: readonly V[], round: number): readonly V[] {
  const start = round % variants.length;
  const turned = [...variants.slice(start), ...variants.slice(0, start)];
  return Math.floor(round / variants.length) % 2 === 0 ? turned : turned.toReversed();
}

/** Costs per round of the floor, of the same floor in a second process, and of what is compared with it. */
export interface Rounds {
  readonly floor: readonly number[];
  readonly floorAgain: readonly number[];
  readonly ours: readonly number[];
}

export interface Comparison {
  readonly ratio: Spread;
  readonly floorRatio: number;
  readonly valid: boolean;
}

/** Our cost as a ratio to the floor of the same round. */
export function compare({ floor, floorAgain, ours }: Rounds): Comparison {
  const floorRatio = spread(floor.map((cost, round) => (floorAgain[round] ?? Number.NaN) / cost)).median;
  const ratio = spread(ours.map((cost, round) => (2 * cost) / ((floor[round] ?? Number.NaN) + (floorAgain[round] ?? Number.NaN))));
  return { ratio, floorRatio, valid: floorRatio >= FLOOR_BAND.low && floorRatio <= FLOOR_BAND.high };
}

/** Whether a figure keeps a limit; without a limit there is nothing to keep. */
export function judge(figure: number, most: number | undefined, valid = true): Verdict {
  if (!valid) return 'void';
  if (most === undefined) return 'no target';
  return figure <= most ? 'met' : 'not met';
}

/** `1.31 (1.29–1.34, all 1.25–1.40)`: median, middle half, everything. */
export function formatSpread({ median, p25, p75, min, max }: Spread, digits: number): string {
  const text = (value: number): string => value.toFixed(digits);
  return `${text(median)} (${text(p25)}–${text(p75)}, all ${text(min)}–${text(max)})`;
}
