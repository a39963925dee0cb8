import { listEvents } from '../../store/agent-plane/session-events.ts';
import type { Store } from '../../store/store.ts';
import { TRANSCRIPT_EVENTS, Transcript } from './transcript.ts';

/** Conversations kept in memory; the one used longest ago goes first. */
const MOST = 256;

/** The conversations that turns of this process had lately, so that a turn does not read its whole history again. */
export class Transcripts {
  readonly #store: Store;
  readonly #kept = new Map<string, Transcript>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The conversation up to an event. It is the caller's alone until it is put back. */
  async take(sessionId: string, upTo: number): Promise<Transcript> {
    const kept = this.#kept.get(sessionId);
    this.#kept.delete(sessionId);
    // One that has run ahead was left by a turn that somebody else has taken over since.
    const transcript = kept !== undefined && kept.sequence <= upTo ? kept : new Transcript();
    await this.extend(transcript, sessionId, upTo);
    return transcript;
  }

  /** A kept conversation that is exactly up to this event; undefined when there is none. */
  takeAt(sessionId: string, sequence: number): Transcript | undefined {
    const kept = this.#kept.get(sessionId);
    if (kept?.sequence !== sequence) return undefined;
    this.#kept.delete(sessionId);
    return kept;
  }

  async extend(transcript: Transcript, sessionId: string, upTo: number): Promise<void> {
    if (transcript.sequence >= upTo) return;
    const events = await listEvents(this.#store, { sessionId, after: transcript.sequence, upTo, types: TRANSCRIPT_EVENTS });
    for (const event of events) transcript.apply(event);
    transcript.advanceTo(upTo);
  }

  putBack(sessionId: string, transcript: Transcript): void {
    this.#kept.set(sessionId, transcript);
    if (this.#kept.size <= MOST) return;
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.#kept.delete(oldest);
  }

  forget(sessionId: string): void {
    this.#kept.delete(sessionId);
  }
}
