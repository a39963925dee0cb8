import type { RunId } from '../../contract/run-id.ts';
import type { CloseFact, Fact, OpenFact } from '../../receipts/journal/facts.ts';

/** A run under way, as far as anybody watches it. Small: 2,000 slow streams have one each. */
export interface SeenRun {
  readonly run: RunId;
  readonly at: number;
  readonly plane: OpenFact['plane'];
  readonly backend: string;
  readonly engine: string | null;
  readonly dialect: string | null;
  /** Null for runs and turns, which are made of calls, and for calls that were refused before a mode was known. */
  readonly mode: OpenFact['mode'];
  readonly model: string | null;
  readonly keyId: string | null;
  readonly parent: string | null;
  readonly task: string;
  readonly tags: readonly string[];
}

/** Somebody who wants to know of every run. It is told on the hot path: it must not wait, and should take a microsecond at most. */
export interface RunWatcher {
  began?(run: SeenRun): void;
  ended(run: SeenRun, end: CloseFact): void;
}

/** Hears every fact of the journal, on every way and plane, and tells the watchers. */
export class RunWatch {
  readonly #onFault: (error: unknown) => void;
  readonly #watchers: RunWatcher[] = [];
  readonly #runs = new Map<RunId, SeenRun>();

  /** `onFault`: a watcher broke. That is never the fault of the call, which goes on. */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  add(watcher: RunWatcher): void {
    this.#watchers.push(watcher);
  }

  get underWay(): ReadonlyMap<RunId, SeenRun> {
    return this.#runs;
  }

  readonly hear = (fact: Fact): void => {
    try {
      if (fact.fact === 'open') this.#begin(fact);
      else this.#end(fact);
    } catch (error) {
      this.#onFault(error);
    }
  };

  /** The beginning of the run could not be written after all, so it has no end. */
  forget(run: RunId): void {
    this.#runs.delete(run);
  }

  #begin(fact: OpenFact): void {
    const known = this.#runs.get(fact.run);
    const { run, plane, backend, engine, dialect, mode, keyId, parent, task, tags } = fact;
    const model = fact.upstreamModel ?? fact.requestedModel;
    const seen = { run, at: known?.at ?? fact.at, plane, backend, engine, dialect, mode, model, keyId, parent, task, tags };
    // A call that goes on elsewhere opens again, and so does a turn with every owner.
    this.#runs.set(run, seen);
    if (known === undefined) for (const watcher of this.#watchers) watcher.began?.(seen);
  }

  #end(fact: CloseFact): void {
    const seen = this.#runs.get(fact.run);
    if (seen === undefined) return;
    this.#runs.delete(fact.run);
    for (const watcher of this.#watchers) watcher.ended(seen, fact);
  }
}

/** Whether it is a call to an engine. Runs and turns are made of calls, and would count twice. */
export function isCall({ plane, mode }: Pick<SeenRun, 'plane' | 'mode'>): boolean {
  return plane === 'gateway' || (plane === 'agent' && mode !== null);
}

/** The HTTP status that the engine answered with; null where none did. */
export function engineStatus({ response, attempts }: CloseFact): number | null {
  return response?.status ?? attempts.at(-1)?.status ?? null;
}

/** From its beginning to its last byte, in milliseconds. */
export function durationOf({ at }: SeenRun, end: CloseFact): number {
  return end.lastByteMs ?? Math.max(0, end.at - at);
}
