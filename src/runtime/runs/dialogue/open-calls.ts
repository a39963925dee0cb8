/** A call that an agent has told of, or asks about, and that is not over. */
export interface OpenCall {
  readonly toolName: string;
  /** Its input in canonical form. */
  readonly words: string;
  /** The agent has told of the call itself, or has asked about it: each happens once. */
  told: boolean;
  asked: boolean;
}

type Mark = 'told' | 'asked';

/**
 * The calls of one run that are open. They are found without looking at all of them: an agent may ask about thousands at once, and each
 * question would hold up the server for as long as there are others.
 */
export class OpenCalls<C extends OpenCall> {
  /** By what they say, calls that do not have a mark yet, oldest first. */
  readonly #without: Readonly<Record<Mark, Map<string, Set<C>>>> = { told: new Map(), asked: new Map() };
  /** Calls that were told of and not asked about. */
  readonly #unasked = new Set<C>();
  readonly #all = new Set<C>();

  add(call: C): void {
    this.#all.add(call);
    for (const mark of ['told', 'asked'] as const) {
      const alike = this.#without[mark].get(wordsOf(call)) ?? new Set();
      this.#without[mark].set(wordsOf(call), alike.add(call));
    }
  }

  mark(call: C, mark: Mark): void {
    call[mark] = true;
    this.#forget(call, mark);
    if (this.#all.has(call) && call.told && !call.asked) this.#unasked.add(call);
    else this.#unasked.delete(call);
  }

  remove(call: C): void {
    this.#all.delete(call);
    this.#unasked.delete(call);
    for (const mark of ['told', 'asked'] as const) this.#forget(call, mark);
  }

  /** The oldest call that says the same and does not have the mark. */
  without(mark: Mark, call: Pick<OpenCall, 'toolName' | 'words'>): C | undefined {
    return this.#without[mark].get(wordsOf(call))?.values().next().value;
  }

  /** The one call that was told of and not asked about; undefined where there are several. */
  onlyUnasked(): C | undefined {
    return this.#unasked.size === 1 ? this.#unasked.values().next().value : undefined;
  }

  #forget(call: C, mark: Mark): void {
    const alike = this.#without[mark].get(wordsOf(call));
    alike?.delete(call);
    if (alike?.size === 0) this.#without[mark].delete(wordsOf(call));
  }
}

/** Canonical words hold no line end, so the last one of a key parts the two. */
const wordsOf = ({ toolName, words }: Pick<OpenCall, 'toolName' | 'words'>): string => `${toolName}\n${words}`;
