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
 * Listens to server-sent events while the component lives. The browser reconnects by itself and says the last id; when it gives up, a new
 * stream is opened.
 */
export function useStream(url: string | null, events: Readonly<Record<string, (data: string) => void>>): StreamState {
  const [state, setState] = useState<StreamState>({ live: false, since: null });
  const handlers = useRef(events);
  handlers.current = events;
  const names = Object.keys(events).join(' ');
  useEffect(() => {
    if (url === null) return undefined;
    const stream = new LastingStream(url, names.split(' '), {
      hear: (name, data) => handlers.current[name]?.(data),
      tell: (live) => setState((before) => (before.live === live ? before : { live, since: live ? null : Date.now() })),
    });
    return () => stream.close();
  }, [url, names]);
  return state;
}

interface Listener {
  hear(name: string, data: string): void;
  tell(live: boolean): void;
}

class LastingStream {
  readonly #url: string;
  readonly #names: readonly string[];
  readonly #listener: Listener;
  readonly #onVisibility = (): void => this.#seen();
  #source: EventSource | undefined;
  #timer: number | undefined;

  constructor(url: string, names: readonly string[], listener: Listener) {
    this.#url = url;
    this.#names = names;
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
    const source = new EventSource(this.#url);
    this.#source = source;
    source.onopen = () => this.#listener.tell(true);
    source.onerror = () => {
      this.#listener.tell(false);
      if (source.readyState !== EventSource.CLOSED) return;
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.#open(), RETRY_MS);
    };
    for (const name of this.#names) {
      source.addEventListener(name, (event) => {
        // A lost connection is an event of the name `error`, too, and has no data.
        if (event instanceof MessageEvent) this.#listener.hear(name, String(event.data));
      });
    }
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
