import type { CloseFact } from '../../receipts/journal/facts.ts';
import { durationOf, engineStatus, isCall, type RunWatcher, type SeenRun } from './run-watch.ts';

/** Upper bounds in seconds: a cached answer takes milliseconds, a long one of a reasoning model ten minutes. */
export const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const;

/** Durations, counted by their size. */
export class Durations {
  /** The last place is for those beyond every bound. */
  readonly counts = new Float64Array(SECONDS.length + 1);
  sum = 0;

  add(seconds: number): void {
    let at = 0;
    while (at < SECONDS.length && seconds > (SECONDS[at] ?? 0)) at += 1;
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.sum += seconds;
  }
}

export const OUTCOMES = ['completed', 'failed', 'cancelled', 'refused'] as const;
export type Outcome = (typeof OUTCOMES)[number];
/** Of the engine's answer; `none` where it gave none. */
export const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx', 'none'] as const;
const NO_STATUS = STATUS_CLASSES.length - 1;

/** Calls of one kind. */
export class CallSeries {
  readonly labels: Readonly<Record<'plane' | 'engine' | 'dialect' | 'mode', string>>;
  /** By outcome, and in each by class of the status. */
  readonly ended = new Float64Array(OUTCOMES.length * STATUS_CLASSES.length);
  readonly total = new Durations();
  readonly firstByte = new Durations();

  constructor(labels: CallSeries['labels']) {
    this.labels = labels;
  }
}

/** The counts of a token counter, in the order of its numbers. */
export const TOKEN_KINDS = ['input', 'output', 'cache_read', 'cache_write', 'thinking'] as const;

/** Names that stand for all that found no place of their own. */
export const OTHER = 'other';
const LONGEST_NAME = 100;

/** A set of names that never grows beyond its limit: callers choose the names of models, and a collector pays for each of them. */
export class BoundedNames {
  readonly #most: number;
  readonly #known = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  of(name: string | null): string {
    if (name === null || name === '') return 'none';
    if (this.#known.has(name)) return name;
    if (this.#known.size >= this.#most || name.length > LONGEST_NAME) return OTHER;
    this.#known.add(name);
    return name;
  }
}

/** Counts what the calls of this process come to. Plain numbers: a call pays for a few additions, and a reader of the metrics pays for the rest. */
export class CallCounts implements RunWatcher {
  readonly series = new Map<string, CallSeries>();
  /** Runs and turns by plane, backend and outcome. */
  readonly runs = new Map<string, number>();
  /** Calls that we refused, by the code of the error. */
  readonly refusals = new Map<string, number>();
  readonly attempts = new Map<string, number>();
  /** By engine and model. */
  readonly tokens = new Map<string, Float64Array>();
  readonly cost = new Map<string, number>();
  readonly #models: BoundedNames;
  readonly #backends: BoundedNames;

  constructor(models: number) {
    this.#models = new BoundedNames(models);
    this.#backends = new BoundedNames(MOST_BACKENDS);
  }

  ended(run: SeenRun, end: CloseFact): void {
    const outcome = outcomeOf(end);
    if (outcome === 'refused') raise(this.refusals, end.error?.code ?? OTHER, 1);
    if (!isCall(run)) {
      raise(this.runs, `${run.plane}|${this.#backends.of(run.backend)}|${outcome}`, 1);
      return;
    }
    const series = this.#seriesOf(run);
    const place = OUTCOMES.indexOf(outcome) * STATUS_CLASSES.length + classOf(engineStatus(end));
    series.ended[place] = (series.ended[place] ?? 0) + 1;
    series.total.add(durationOf(run, end) / 1000);
    if (end.firstByteMs !== null) series.firstByte.add(end.firstByteMs / 1000);
    if (end.attempts.length > 1) raise(this.attempts, run.engine ?? 'none', end.attempts.length - 1);
    if (end.usage !== null) this.#count(run, end.upstreamModel ?? run.model, end.usage);
  }

  /** A receipt has been priced. */
  spent(engine: string, model: string, nanoUsd: number): void {
    raise(this.cost, `${engine}|${this.#models.of(model)}`, nanoUsd);
  }

  #seriesOf({ plane, engine, dialect, mode }: SeenRun): CallSeries {
    const key = `${plane}|${engine}|${dialect}|${mode}`;
    const known = this.series.get(key);
    if (known !== undefined) return known;
    const made = new CallSeries({ plane, engine: engine ?? 'none', dialect: dialect ?? 'none', mode: mode ?? 'none' });
    this.series.set(key, made);
    return made;
  }

  #count({ engine }: SeenRun, model: string | null, usage: NonNullable<CloseFact['usage']>): void {
    const key = `${engine ?? 'none'}|${this.#models.of(model)}`;
    let counts = this.tokens.get(key);
    if (counts === undefined) {
      counts = new Float64Array(TOKEN_KINDS.length);
      this.tokens.set(key, counts);
    }
    counts[0] = (counts[0] ?? 0) + usage.input_tokens;
    counts[1] = (counts[1] ?? 0) + usage.output_tokens;
    counts[2] = (counts[2] ?? 0) + usage.cache_read_tokens;
    counts[3] = (counts[3] ?? 0) + usage.cache_write_tokens;
    counts[4] = (counts[4] ?? 0) + usage.thinking_tokens;
  }
}

/** Coding agents, sidecars of the configuration and agents of users: the last may be many. */
const MOST_BACKENDS = 100;

function raise(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

/** How a run ended, with what we refused told apart from what an engine failed at. */
export function outcomeOf({ status, reason }: Pick<CloseFact, 'status' | 'reason'>): Outcome {
  return reason === 'refused' ? 'refused' : status;
}

function classOf(status: number | null): number {
  if (status === null) return NO_STATUS;
  const at = Math.floor(status / 100) - 1;
  return at >= 0 && at < NO_STATUS ? at : NO_STATUS;
}
