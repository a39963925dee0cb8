import type { StatementSync } from 'node:sqlite';
import type { SqliteStore } from '../store.ts';

/** A write that waits for its turn. */
interface Waiting {
  work(): void;
  done(): void;
  failed(error: unknown): void;
}

/**
 * Does the writes of one turn of the event loop in one transaction. A commit costs as much as the pages it touches, and rows that are
 * written at the same time share most of theirs. A lone write waits for nothing but the end of the turn.
 */
export class GroupCommit {
  readonly #store: SqliteStore;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  #waiting: Waiting[] = [];

  constructor(store: SqliteStore) {
    this.#store = store;
    this.#begin = store.sqlite.prepare('begin immediate');
    this.#end = store.sqlite.prepare('commit');
  }

  /** Resolves when the write is committed. Work that finds out that it may not write must have written nothing: there is no undoing it alone. */
  async write<T>(work: () => T): Promise<T> {
    return await new Promise((resolve, reject) => {
      let result: T;
      this.#waiting.push({
        work: () => {
          result = work();
        },
        done: () => resolve(result),
        failed: reject,
      });
      if (this.#waiting.length === 1) setImmediate(this.#commit);
    });
  }

  readonly #commit = (): void => {
    let all: readonly Waiting[] = [];
    this.#store
      .exclusive(() => {
        all = this.#taken();
        this.#transaction(all);
      })
      .then(
        () => {
          for (const one of all) one.done();
        },
        (error: unknown) => {
          // A database that is closed does not even let the writes begin.
          for (const one of [...all, ...this.#taken()]) one.failed(error);
        },
      );
  };

  #taken(): Waiting[] {
    const all = this.#waiting;
    this.#waiting = [];
    return all;
  }

  #transaction(all: readonly Waiting[]): void {
    this.#begin.run();
    try {
      for (const one of all) one.work();
      this.#end.run();
    } catch (error) {
      if (this.#store.sqlite.isTransaction) this.#store.sqlite.exec('rollback');
      throw error;
    }
  }
}
