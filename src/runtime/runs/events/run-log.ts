import { type JsonObject, jsonOf } from '../../../base/json.ts';
import type { RunId } from '../../../contract/run-id.ts';
import type { AgentEvent } from '../../../contract/runs/event.ts';
import { appendRunEvents, type StoredRunEvent } from '../../../store/runs/run-events.ts';
import type { Store } from '../../../store/store.ts';
import { withoutSecrets } from './redaction.ts';

/** Written events that stay in memory, for readers that keep up. */
const KEPT = 500;

/** Events wait this long for company: a write per event would cost more than the events. */
const GATHER_MS = 20;

export interface LogOptions {
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
  readonly onFault: (error: unknown) => void;
}

/** Writes the events of one run in their order, tells its readers when there are more, and hands the newest to them from memory. */
export class RunLog {
  readonly #store: Store;
  readonly #runId: RunId;
  readonly #redact: (text: string) => string;
  readonly #onFault: (error: unknown) => void;
  #waiting: StoredRunEvent[] = [];
  /** The newest of those that are written. */
  #kept: StoredRunEvent[] = [];
  #last = 0;
  #written: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #changed = Promise.withResolvers<void>();
  #ended = false;

  constructor(store: Store, runId: RunId, { redact, onFault }: LogOptions) {
    this.#store = store;
    this.#runId = runId;
    this.#redact = redact;
    this.#onFault = onFault;
  }

  get ended(): boolean {
    return this.#ended;
  }

  push(event: AgentEvent): void {
    this.#last += 1;
    this.#waiting.push({ sequence: this.#last, event: withoutSecrets(storable(event), this.#redact) });
    this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  /** Resolves at the next change from now on. */
  changed(): Promise<void> {
    return this.#changed.promise;
  }

  /** The written events after a number; undefined where the first of them are in the database alone. */
  after(position: number): readonly StoredRunEvent[] | undefined {
    const first = this.#kept[0]?.sequence ?? 1;
    return position + 1 < first ? undefined : this.#kept.slice(position + 1 - first);
  }

  /** Everything is written; no more events come. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#flush();
    await this.#written;
    this.#ended = true;
    this.#changed.resolve();
  }

  #flush(): void {
    this.#timer = undefined;
    const events = this.#waiting;
    if (events.length === 0) return;
    this.#waiting = [];
    this.#written = this.#written.then(async () => {
      try {
        await appendRunEvents(this.#store, this.#runId, events);
      } catch (error) {
        this.#onFault(error);
      }
      // Also what could not be written: a caller who follows the run now still hears it.
      this.#kept = [...this.#kept, ...events].slice(-KEPT);
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    });
  }
}

/** Accumulated texts are left out: they would make the log of a long answer grow with its square. Readers put it back. */
function storable(event: AgentEvent): JsonObject {
  const {
    accumulated: _text,
    inputAccumulated: _input,
    ...rest
  } = event as AgentEvent & { accumulated?: string; inputAccumulated?: string };
  return jsonOf(rest); // an event is JSON by its schema
}
