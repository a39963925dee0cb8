/** A caller may hold this many times what is left: at most three quarters of all, and less the more others hold. */
const SHARE = 3;
/** So few places cannot be divided. */
const DIVISIBLE = 4;

/**
 * Divides what there is only so much of (bytes in memory, connections, turns) among callers. Nobody can take all of it: a caller that comes
 * next finds a part of it free, however much the others hold.
 */
export class FairShare {
  readonly limit: number;
  readonly #byCaller = new Map<string, number>();
  #held = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  heldBy(caller: string): number {
    return this.#byCaller.get(caller) ?? 0;
  }

  /** Why the caller cannot have it: nothing is left, or it holds its share already. */
  refusal(caller: string, amount = 1): 'full' | 'share' | undefined {
    const left = this.limit - this.#held - amount;
    if (left < 0) return 'full';
    const own = this.heldBy(caller);
    return own > 0 && this.limit >= DIVISIBLE && own + amount > SHARE * left ? 'share' : undefined;
  }

  /** The caller gives back what it takes. */
  take(caller: string, amount = 1): void {
    this.#held += amount;
    this.#byCaller.set(caller, this.heldBy(caller) + amount);
  }

  release(caller: string, amount = 1): void {
    this.#held -= amount;
    const own = this.heldBy(caller) - amount;
    if (own <= 0) this.#byCaller.delete(caller);
    else this.#byCaller.set(caller, own);
  }
}
