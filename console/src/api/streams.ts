import { useEffect, useRef, useState } from 'react';

/** Hidden pages let go of their streams after this time, and go on where they were when they are seen again. */
const HIDDEN_MS = 5 * 60_000;
const RETRY_MS = 4000;

export interface StreamState {
  readonly live: boolean;
  /** Since when it is not, as a time of day. */
  readonly since: number | null;
}

/**
 * Listens to server-sent events while the component lives. The browser reconnects by itself and says the last id; when it gives up, or the
 * page was hidden for long, a new stream is opened. A browser cannot give that one a header, so `place` is the name of the parameter by
 * which the server takes the last id; without one the new stream begins with what happens then.
 */
export function useStream(
  url: string | null,
  events: Readonly<Record<string, (data: string) => void>>,
  place?: 'after' | 'since_id',
): StreamState {
  const [state, setState] = useState<StreamState>({ live: false, since: null });
  const handlers = useRef(events);
  handlers.current = events;
  const names = Object.keys(events).join(' ');
  useEffect(() => {
    if (url === null) return undefined;
    const stream = new LastingStream(
      { url, place, names: names.split(' ') },
      {
        hear: (name, data) => handlers.current[name]?.(data),
        tell: (live) => setState((before) => (before.live === live ? before : { live, since: live ? null : Date.now() })),
      },
    );
    return () => stream.close();
  }, [url, names, place]);
  return state;
}

interface Listener {
  hear(name: string, data: string): void;
  tell(live: boolean): void;
}

interface Source {
  readonly url: string;
  readonly place: string | undefined;
  readonly names: readonly string[];
}

class LastingStream {
  readonly #from: Source;
  readonly #listener: Listener;
  readonly #onVisibility = (): void => this.#seen();
  #source: EventSource | undefined;
  #timer: number | undefined;
  /** The id of the last event that had one. */
  #last = '';

  constructor(from: Source, listener: Listener) {
    this.#from = from;
    this.#listener = listener;
    document.addEventListener('visibilitychange', this.#onVisibility);
    this.#open();
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.#onVisibility);
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
  }

  #open(): void {
    const { url, place, names } = this.#from;
    const after =
      place === undefined || this.#last === '' ? '' : `${url.includes('?') ? '&' : '?'}${place}=${encodeURIComponent(this.#last)}`;
    const source = new EventSource(url + after);
    this.#source = source;
    source.onopen = (event) => {
      // The server begins some streams with an event of this name, whose id is the place where the stream begins.
      this.#passed(event);
      this.#listener.tell(true);
    };
    source.onerror = () => {
      this.#listener.tell(false);
      if (source.readyState !== EventSource.CLOSED) return;
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.#open(), RETRY_MS);
    };
    for (const name of names) {
      source.addEventListener(name, (event) => {
        // A lost connection is an event of the name `error`, too, and has no data.
        if (!(event instanceof MessageEvent)) return;
        this.#passed(event);
        this.#listener.hear(name, String(event.data));
      });
    }
  }

  #passed(event: Event): void {
    if (event instanceof MessageEvent && event.lastEventId !== '') this.#last = event.lastEventId;
  }

  #seen(): void {
    clearTimeout(this.#timer);
    if (document.hidden) {
      this.#timer = window.setTimeout(() => {
        this.#source?.close();
        this.#source = undefined;
        this.#listener.tell(false);
      }, HIDDEN_MS);
    } else if (this.#source === undefined) this.#open();
  }
}
