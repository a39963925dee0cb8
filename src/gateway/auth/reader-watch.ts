import { AbpError } from '../../contract/errors.ts';
import { may, maySee, seenKeys } from './access.ts';
import type { Permission } from './permissions.ts';
import type { Principal, WhoCalls } from './principal.ts';

/** A reader loses its stream at the latest so long after this node knows that it may no longer read. */
const LOOK_MS = 1000;

/** Somebody who reads a stream of events. */
interface Reader {
  /** As it was when the stream began. */
  readonly principal: Principal;
  readonly permission: Permission;
  readonly whoCalls: WhoCalls;
  /** Ends the stream. */
  readonly end: () => void;
}

/**
 * Streams of events go on for hours, and who may read them is asked when they begin. So each ends when its reader’s key or sign-in does, and
 * when the reader has lost a right or sees fewer runs than before; one who may still read opens another.
 */
export class ReaderWatch {
  readonly #readers = new Set<Reader>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;

  /** The function is for a reader who has left. */
  add(reader: Reader): () => void {
    this.#readers.add(reader);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    return () => this.#forget(reader);
  }

  #forget(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    await Promise.all([...this.#readers].map((reader) => this.#check(reader)));
    this.#looking = false;
  }

  async #check(reader: Reader): Promise<void> {
    if (await mayStillRead(reader)) return;
    this.#forget(reader);
    reader.end();
  }
}

async function mayStillRead({ principal, permission, whoCalls }: Reader): Promise<boolean> {
  try {
    const now = await whoCalls();
    return may(now, permission) && seenKeys(principal).every((key) => maySee(now, key));
  } catch (error) {
    // Only an answer ends a stream: while the database is away nobody knows.
    return !AbpError.is(error) || error.code !== 'unauthenticated';
  }
}
