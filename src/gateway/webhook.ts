import type { Outbound } from '../upstream/outbound.ts';

const TRIES = 3;
const BETWEEN_MS = 1000;
const ANSWER_MS = 10_000;
/** At the end of the process nobody waits for ever. */
const LAST_MS = 5000;

/** An address of the operator's own that gets documents as a POST of JSON, one after the other, each tried three times. */
export class Webhook {
  readonly #url: string;
  readonly #onFault: (error: unknown) => void;
  #outbound: Promise<Outbound> | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(url: string, onFault: (error: unknown) => void) {
    this.#url = url;
    this.#onFault = onFault;
  }

  send(document: string): void {
    this.#outbound ??= openOutbound(this.#url);
    const client = this.#outbound;
    this.#sending = this.#sending.then(async () => await post(await client, this.#url, document)).catch(this.#onFault);
  }

  /** Waits a moment for the last document to arrive. */
  async close(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, LAST_MS);
    await Promise.race([this.#sending, late.promise]);
    clearTimeout(timer);
    await (await this.#outbound)?.close();
  }
}

/** The address is the operator's own, so it may be a private one. */
async function openOutbound(webhook: string): Promise<Outbound> {
  const { Outbound } = await import('../upstream/outbound.ts');
  return new Outbound({ allow: [new URL(webhook).host] });
}

async function post(client: Outbound, url: string, document: string): Promise<void> {
  const request = { url, method: 'POST', headers: { 'content-type': 'application/json' }, body: document, timeoutMs: ANSWER_MS };
  for (let left = TRIES - 1; ; left -= 1) {
    try {
      const { status } = await client.read(request, 0);
      if (status < 300) return;
      throw new Error(`it answered ${status}`);
    } catch (error) {
      if (left === 0) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
  }
}
