import type { Deployment } from '../deployment.ts';
import type { Affinity } from './affinity.ts';

/** Conversations that one engine remembers; the one that was quiet longest goes first. */
const MOST_PINS = 65_536;

interface Pin {
  deployment: Deployment;
  until: number;
}

/** Which deployment has the cache of which conversation, for as long as such a cache lives. */
export class Pins {
  readonly #pins = new Map<number, Pin>();
  readonly #most: number;

  constructor(most = MOST_PINS) {
    this.#most = most;
  }

  get(key: number, now: number): Deployment | undefined {
    const pin = this.#pins.get(key);
    return pin === undefined || pin.until <= now ? undefined : pin.deployment;
  }

  /** The deployment gets a call of the conversation, and has its cache from now on. */
  set({ key, lifetimeMs }: Affinity, deployment: Deployment, now: number): void {
    const known = this.#pins.get(key);
    const before = known?.deployment === deployment ? known.until : 0;
    // Moved to the end, so that the first one is always the one that was quiet longest.
    this.#pins.delete(key);
    this.#pins.set(key, { deployment, until: Math.max(before, now + lifetimeMs) });
    if (this.#pins.size <= this.#most) return;
    for (const oldest of this.#pins.keys()) {
      this.#pins.delete(oldest);
      break;
    }
  }

  get size(): number {
    return this.#pins.size;
  }
}
