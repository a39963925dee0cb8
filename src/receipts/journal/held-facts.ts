import type { CloseFact, Fact } from './facts.ts';

/** Each is about a kilobyte. The oldest beyond it are let go: their runs are closed as interrupted at the next start. */
const MOST_HELD = 100_000;
const RETRY_MS = 1000;

export interface HeldFactsOptions {
  /** Throws when the facts cannot be written. */
  readonly write: (facts: readonly Fact[]) => void;
  /** Throws when nothing can be written. */
  readonly probe: () => void;
  readonly onFault: (message: string | undefined) => void;
}

/** Ends of runs that could not be written, until they can be. */
export class HeldFacts {
  readonly #options: HeldFactsOptions;
  #facts: CloseFact[] = [];
  #retry: NodeJS.Timeout | undefined;

  constructor(options: HeldFactsOptions) {
    this.#options = options;
  }

  /** Something could not be written, and nothing has been since. */
  get isFaulty(): boolean {
    return this.#retry !== undefined;
  }

  /** Keeps the ends among the facts, and tries again now and then. */
  hold(facts: readonly Fact[], reason: unknown): void {
    for (const fact of facts) if (fact.fact === 'close') this.#facts.push(fact);
    if (this.#facts.length > MOST_HELD) this.#facts = this.#facts.slice(-MOST_HELD);
    this.#options.onFault(`the journal cannot be written: ${reason instanceof Error ? reason.message : String(reason)}`);
    this.#retry ??= setInterval(() => this.#tryAgain(), RETRY_MS).unref();
  }

  /** Writes what is held, or throws. */
  flush(): void {
    if (this.#facts.length > 0) this.#options.write(this.#facts);
    else this.#options.probe();
    this.#facts = [];
    this.#stopTrying();
    this.#options.onFault(undefined);
  }

  /** The last chance. */
  end(): void {
    if (this.isFaulty) this.#tryAgain();
    this.#stopTrying();
  }

  #tryAgain(): void {
    try {
      this.flush();
    } catch (error) {
      this.#options.onFault(`the journal cannot be written: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #stopTrying(): void {
    clearInterval(this.#retry);
    this.#retry = undefined;
  }
}
