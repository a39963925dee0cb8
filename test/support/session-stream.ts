import type { IncomingMessage } from 'node:http';
import { send } from './http-call.ts';

/** One frame of a server-sent event stream. */
export interface Frame {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: Record<string, unknown>;
}

/** Reads the events of a session as they come. */
export class SessionStream {
  readonly frames: Frame[] = [];
  /** Everything that came, comments too. */
  text = '';
  readonly #response: IncomingMessage;
  #rest = '';

  private constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding('utf8');
    // The server may close first.
    response.on('error', () => undefined);
    response.on('data', (chunk: string) => this.#take(chunk));
  }

  static async open(url: string, headers: readonly string[] = []): Promise<SessionStream> {
    return new SessionStream(await send(url, { headers }));
  }

  get status(): number | undefined {
    return this.#response.statusCode;
  }

  /** Waits until a frame of this event has come, `count` times. */
  async until(event: string, count = 1): Promise<void> {
    const deadline = performance.now() + 15_000;
    while (this.frames.filter((frame) => frame.event === event).length < count) {
      if (performance.now() > deadline) throw new Error(`no ${event} came; there were ${this.events().join(', ')}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  events(): string[] {
    return this.frames.map(({ event }) => event);
  }

  close(): void {
    this.#response.destroy();
  }

  #take(chunk: string): void {
    this.text += chunk;
    this.#rest += chunk;
    const parts = this.#rest.split('\n\n');
    this.#rest = parts.pop() ?? '';
    for (const part of parts) {
      const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1];
      const data = field('data');
      if (data !== undefined) this.frames.push({ event: field('event') ?? '', id: field('id'), data: JSON.parse(data) });
    }
  }
}
