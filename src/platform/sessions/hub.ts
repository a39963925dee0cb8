import type { StoredEvent } from '../../store/agent-plane/session-events.ts';
import type { Delta } from './deltas.ts';

/** The news that a listener of a session hears. */
export type Heard =
  | { readonly kind: 'stored'; readonly events: readonly StoredEvent[] }
  | { readonly kind: 'delta'; readonly delta: Delta }
  /** Something was stored elsewhere; streams that want it read it. */
  | { readonly kind: 'hint' }
  | { readonly kind: 'closed'; readonly reason: 'deleted' | 'shutdown' };

export type Listener = (heard: Heard) => void;

/** Tells everyone in this process what happens in sessions. Nothing is kept: the database is the memory. */
export class Hub {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Returns how to stop listening. */
  listen(sessionId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(sessionId) ?? new Set();
    this.#listeners.set(sessionId, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(sessionId) === listeners) this.#listeners.delete(sessionId);
    };
  }

  isHeard(sessionId: string): boolean {
    return this.#listeners.has(sessionId);
  }

  tell(sessionId: string, heard: Heard): void {
    for (const listener of this.#listeners.get(sessionId) ?? []) listener(heard);
  }

  tellAll(heard: Heard): void {
    for (const sessionId of [...this.#listeners.keys()]) this.tell(sessionId, heard);
  }
}
