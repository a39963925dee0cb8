import { hasPassed } from '../../base/clock.ts';
import { addPart, type DividedTable, dropEmptyPart, listParts, type Part } from '../../store/databases/parts.ts';
import { dayAt, timeOfDay } from '../../store/receipts/run-days.ts';
import type { PostgresStore, Store } from '../../store/store.ts';

const LOOK_EVERY_MS = 3600 * 1000;
/** A look that met a busy table is repeated sooner. */
const AGAIN_MS = 60 * 1000;
/** Parts are made for so many days to come, so that a database that is away for some days has them when it is back. */
const DAYS_AHEAD = 7;
const DAY_MS = 24 * 3600 * 1000;

/**
 * How many days a part of the receipts holds. What is kept for a month is dropped by the day; for ever, by the month: every list looks
 * into all parts, so there are never many.
 */
function daysOfPart(keptDays: number | undefined): number {
  if (keptDays === undefined || keptDays > 400) return 30;
  return keptDays > 60 ? 7 : 1;
}

const digits = (time: number, length: number): string => new Date(time).toISOString().slice(0, length).replaceAll('-', '');

/** The next part of the receipts from a day on. */
function receiptsPart(from: number, days: number): Part {
  return { name: `receipts_${digits(timeOfDay(from), 10)}`, from, to: from + days };
}

/** The month of UTC that a time is in. */
function usagePart(time: number): Part {
  const date = new Date(time);
  const [from, to] = [0, 1].map((more) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more));
  return { name: `usage_rollups_${digits(time, 7)}`, from: from ?? 0, to: to ?? 0 };
}

/** Makes the parts of tables on PostgreSQL ahead of time, and drops those that retention has emptied. */
export class TableParts {
  readonly #store: PostgresStore | undefined;
  readonly #daysOfPart: number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;

  constructor(store: Store, keptDays: number | undefined) {
    this.#store = store.kind === 'postgres' ? store : undefined;
    this.#daysOfPart = daysOfPart(keptDays);
  }

  /** Makes what will be needed. Where a part is missing, its rows go to the part for the rest, and nothing waits. */
  async look(now = Date.now()): Promise<void> {
    if (this.#store === undefined || !hasPassed(this.#pauseMs, this.#lookedAt, now)) return;
    // A part that could not be made is tried again soon, not at once.
    this.#lookedAt = now;
    this.#pauseMs = AGAIN_MS;
    const until = now + DAYS_AHEAD * DAY_MS;
    const made = [
      await this.#fill(this.#store, 'receipts', {
        from: dayAt(now),
        until: dayAt(until),
        next: (day) => receiptsPart(day, this.#daysOfPart),
      }),
      await this.#fill(this.#store, 'usage_rollups', { from: now, until, next: usagePart }),
    ];
    if (made.every(Boolean)) this.#pauseMs = LOOK_EVERY_MS;
  }

  /** Drops parts of the receipts whose days are over and whose receipts are all stubs, which are elsewhere. */
  async dropEmptied(endedBefore: number): Promise<readonly string[]> {
    const dropped: string[] = [];
    if (this.#store === undefined) return dropped;
    const over = Math.min(dayAt(endedBefore), dayAt(Date.now() - DAY_MS));
    for (const part of await listParts(this.#store, 'receipts')) {
      if (part.from > 0 && part.to <= over && (await dropEmptyPart(this.#store, 'receipts', part))) dropped.push(part.name);
    }
    return dropped;
  }

  /** False where a part could not be made now. */
  async #fill(
    store: PostgresStore,
    table: DividedTable,
    { from, until, next }: { readonly from: number; readonly until: number; readonly next: (at: number) => Part },
  ): Promise<boolean> {
    const parts = await listParts(store, table);
    for (let at = from; at <= until; ) {
      const covered = parts.find((part) => part.from <= at && at < part.to);
      const part = covered ?? shortened(next(at), parts);
      if (covered === undefined && !(await addPart(store, table, part))) return false;
      at = part.to;
    }
    return true;
  }
}

/** A part ends where the next one begins. */
function shortened(part: Part, parts: readonly Part[]): Part {
  const later = parts.filter(({ from }) => from > part.from).map(({ from }) => from);
  return { ...part, to: Math.min(part.to, ...later) };
}
