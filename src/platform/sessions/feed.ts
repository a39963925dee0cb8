import { Readable } from 'node:stream';
import type { JsonObject } from '../../base/json.ts';
import { listEvents, type StoredEvent } from '../../store/agent-plane/session-events.ts';
import { getSession } from '../../store/agent-plane/sessions.ts';
import type { Store } from '../../store/store.ts';
import type { Delta, Deltas } from './deltas.ts';
import type { Heard, Hub } from './hub.ts';
import { eventId, eventView } from './session-event.ts';

const PAGE = 500;
/** A reader that is further behind than this reads the database instead. */
const MOST_WAITING = 2000;
/** Stored events may be long; a reader that does not take them reads them from the database later. */
const MOST_STORED_WAITING = 32;
/** A reader is given so many characters at a time, and more when it has taken them. */
const PIECE = 64 * 1024;
const RETRY_MS = 1000;

export interface FeedOptions {
  readonly store: Store;
  readonly hub: Hub;
  readonly deltas: Deltas;
  readonly sessionId: string;
  /** Events after this one are sent, then what happens. */
  readonly after: number;
  readonly heartbeatMs: number;
}

/** The events of a session as a server-sent event stream: stored ones after a place, then live ones, without gap or repetition. */
export function openFeed(options: FeedOptions): Readable {
  return new FeedStream(options);
}

/** Asks for frames as fast as the reader takes them. */
class FeedStream extends Readable {
  readonly #inbox: Inbox;
  readonly #frames: AsyncGenerator<string>;
  #reading = false;

  constructor(options: FeedOptions) {
    super();
    this.#inbox = new Inbox(options.hub, options.sessionId);
    this.#frames = framesOf(options, this.#inbox);
  }

  override _read(): void {
    if (this.#reading) return;
    this.#reading = true;
    this.#frames.next().then(
      ({ done, value }) => {
        this.#reading = false;
        this.push(done === true ? null : value);
      },
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#inbox.close();
    done(error);
  }
}

async function* framesOf(options: FeedOptions, inbox: Inbox): AsyncGenerator<string> {
  const reader = new FeedReader(options);
  yield `retry: ${RETRY_MS}\n${frame('connected', { status: 'connected', after_sequence: options.after })}`;
  yield* reader.stored();
  const soFar = options.deltas.soFar(options.sessionId);
  if (soFar.length > 0) yield soFar.map(deltaFrame).join('');
  for (;;) {
    const heard = await inbox.next(options.heartbeatMs);
    if (heard === undefined) {
      yield ': heartbeat\n\n';
      // A notice may have been lost with the connection that carries them.
      if (options.store.kind === 'postgres') yield* reader.stored();
      if (await reader.isThere()) continue;
      yield disconnecting('deleted');
      return;
    }
    const closed = heard.find((one) => one.kind === 'closed');
    yield* reader.heard(heard);
    if (closed === undefined) continue;
    yield disconnecting(closed.reason);
    return;
  }
}

function disconnecting(reason: Extract<Heard, { kind: 'closed' }>['reason']): string {
  return frame('disconnecting', { reason, retry_ms: RETRY_MS });
}

/** Knows how far the reader is. */
class FeedReader {
  readonly #options: FeedOptions;
  #position: number;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#position = options.after;
  }

  /** A session that was deleted without a word to this process sends nothing more. */
  async isThere(): Promise<boolean> {
    const { store, sessionId } = this.#options;
    return (await getSession(store, sessionId)) !== undefined;
  }

  async *stored(): AsyncGenerator<string> {
    const { store, sessionId } = this.#options;
    for (;;) {
      const events = await listEvents(store, { sessionId, after: this.#position, limit: PAGE });
      yield* this.#frames(events);
      if (events.length < PAGE) return;
    }
  }

  async *heard(all: readonly Heard[]): AsyncGenerator<string> {
    let text = '';
    for (const one of all) {
      if (one.kind === 'delta') text += deltaFrame(one.delta);
      else if (one.kind === 'stored' && this.#follows(one.events)) {
        if (text !== '') yield text;
        text = '';
        yield* this.#frames(one.events);
      } else if (one.kind !== 'closed') {
        if (text !== '') yield text;
        text = '';
        yield* this.stored();
      }
    }
    if (text !== '') yield text;
  }

  /** Whether nothing lies between what was sent and these. */
  #follows(events: readonly StoredEvent[]): boolean {
    return (events[0]?.sequence ?? 0) <= this.#position + 1;
  }

  *#frames(events: readonly StoredEvent[]): Generator<string> {
    let text = '';
    for (const event of events) {
      if (event.sequence <= this.#position) continue;
      this.#position = event.sequence;
      text += frame(event.type, eventView(event), eventId(event.sessionId, event.sequence));
      if (text.length < PIECE) continue;
      yield text;
      text = '';
    }
    if (text !== '') yield text;
  }
}

/** Gathers what is heard until it is asked for. */
class Inbox {
  #waiting: Heard[] = [];
  #stored = 0;
  #wake: (() => void) | undefined;
  readonly #unlisten: () => void;

  constructor(hub: Hub, sessionId: string) {
    this.#unlisten = hub.listen(sessionId, (heard) => {
      this.#add(heard);
      this.#wake?.();
    });
  }

  #add(heard: Heard): void {
    if (heard.kind === 'stored') this.#stored += 1;
    const hasRoom = this.#waiting.length < MOST_WAITING && this.#stored <= MOST_STORED_WAITING;
    if (hasRoom || heard.kind === 'closed') {
      this.#waiting.push(heard);
      return;
    }
    this.#waiting = [{ kind: 'hint' }];
    this.#stored = 0;
  }

  /** All that was heard, as soon as there is something; undefined when the time is over. */
  async next(ms: number): Promise<readonly Heard[] | undefined> {
    if (this.#waiting.length === 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
      this.#wake = undefined;
    }
    if (this.#waiting.length === 0) return undefined;
    const heard = this.#waiting;
    this.#waiting = [];
    this.#stored = 0;
    return heard;
  }

  /** Readers that wait are let go as if the stream had ended. */
  close(): void {
    this.#unlisten();
    this.#waiting = [{ kind: 'closed', reason: 'shutdown' }];
    this.#wake?.();
  }
}

/** Deltas have no id: a reader that comes back asks for what follows the last stored event. */
function deltaFrame({ type, data }: Delta): string {
  return frame(type, { type, data });
}

function frame(event: string, data: JsonObject, id?: string): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
