import { createHmac } from 'node:crypto';
import type { Notice } from '../../store/notices/notices.ts';
import type { Outbound } from '../../upstream/outbound.ts';
import type { Posted } from './delivery.ts';
import type { WebhookConfig } from './webhook-config.ts';

const ANSWER_MS = 10_000;
/** How keys are written by the programs that make them for this scheme: base64 behind a prefix. Other secrets are taken as they stand. */
const KEY_PREFIX = 'whsec_';

/**
 * The headers that prove where a notice comes from and when it was sent, as the Standard Webhooks specification has them: libraries in most
 * languages verify them. The signature is over id, time and body, so that none can be exchanged or sent again later.
 */
function signedHeaders(id: string, body: string, secret: string | undefined, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const headers = { 'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === undefined) return headers;
  const key = secret.startsWith(KEY_PREFIX) ? Buffer.from(secret.slice(KEY_PREFIX.length), 'base64') : Buffer.from(secret, 'utf8');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}

/** Posts notices to one webhook. */
export class WebhookPost {
  readonly #hook: WebhookConfig;
  #outbound: Promise<Outbound> | undefined;

  constructor(hook: WebhookConfig) {
    this.#hook = hook;
  }

  async post({ id, document }: Notice, signal: AbortSignal): Promise<Posted> {
    const { url, secret } = this.#hook;
    this.#outbound ??= openOutbound(url);
    const headers = signedHeaders(id, document, secret, Date.now());
    const request = { url, method: 'POST', headers, body: document, timeoutMs: ANSWER_MS, signal, maxRedirects: 0 };
    const { status } = await (await this.#outbound).read(request, 0);
    return status >= 200 && status < 300 ? 'arrived' : { fault: `it answered ${status}` };
  }

  async close(): Promise<void> {
    await (await this.#outbound)?.close();
  }
}

/** The address is the operator's own, so it may be a private one. */
async function openOutbound(url: string): Promise<Outbound> {
  const { Outbound } = await import('../../upstream/outbound.ts');
  return new Outbound({ allow: [new URL(url).host] });
}
