import { ownTurn } from '../../../base/bounded/turns.ts';
import { isJsonObject, type Json, type JsonObject, jsonOf } from '../../../base/json.ts';
import type { RunId } from '../../../contract/run-id.ts';
import type { AgentEvent } from '../../../contract/runs/event.ts';
import { appendRunEvents, type StoredRunEvent } from '../../../store/runs/run-events.ts';
import type { Store } from '../../../store/store.ts';
import { withoutSecrets, withoutSecretsInTurns } from './redaction.ts';

/** Written events that stay in memory, for readers that keep up. */
const KEPT = 500;

/** And characters of their texts. */
const KEPT_CHARACTERS = 32 * 1024 * 1024;

/** Characters that are searched for secrets, or written, in one turn of the event loop. */
const TURN_CHARACTERS = 256 * 1024;
/** An event takes time for itself, too; it counts as so many characters. */
const EVENT_CHARACTERS = 250;

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
    this.#waiting.push({ sequence: this.#last, event: storable(event) });
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
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    this.#written = this.#written.then(async () => {
      let events: StoredRunEvent[] = [];
      try {
        events = await this.#redacted(waiting);
        for (const page of pagesOf(events)) await appendRunEvents(this.#store, this.#runId, page);
      } catch (error) {
        this.#onFault(error);
      }
      // Also what could not be written: a caller who follows the run now still hears it.
      this.#kept = newest([...this.#kept, ...events]);
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    });
  }

  /** So much is searched in one turn, and long events in turns of their own, so that others are served meanwhile. */
  async #redacted(events: readonly StoredRunEvent[]): Promise<StoredRunEvent[]> {
    const found: StoredRunEvent[] = [];
    let searched = 0;
    for (const { sequence, event } of events) {
      searched += EVENT_CHARACTERS + sizeOf(event);
      const long = searched > TURN_CHARACTERS;
      if (long) {
        searched = 0;
        await ownTurn();
      }
      found.push({ sequence, event: long ? await withoutSecretsInTurns(event, this.#redact) : withoutSecrets(event, this.#redact) });
    }
    return found;
  }
}

/** Characters of all texts of an event. */
function sizeOf(value: Json): number {
  if (typeof value === 'string') return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, item: Json) => sum + sizeOf(item), 0);
  return isJsonObject(value) ? Object.values(value).reduce((sum: number, member) => sum + sizeOf(member), 0) : 0;
}

/** The newest events that stay in memory: so many, and so many characters, at least one. */
function newest(events: readonly StoredRunEvent[]): StoredRunEvent[] {
  let size = 0;
  let from = events.length;
  while (from > 0 && events.length - from < KEPT && (size === 0 || size < KEPT_CHARACTERS)) {
    from -= 1;
    size += sizeOf(events[from]?.event ?? {});
  }
  return events.slice(from);
}

/** Events that are written at once: long ones alone. */
function pagesOf(events: readonly StoredRunEvent[]): StoredRunEvent[][] {
  const pages: StoredRunEvent[][] = [];
  let size = 0;
  for (const one of events) {
    size += sizeOf(one.event);
    const page = pages.at(-1);
    if (page === undefined || size > TURN_CHARACTERS) {
      pages.push([one]);
      size = sizeOf(one.event);
    } else page.push(one);
  }
  return pages;
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
