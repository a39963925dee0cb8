import { createECDH } from 'node:crypto';
import type { PushSubscription } from '../../store/notices/push-subscriptions.ts';
import type { Outbound } from '../../upstream/outbound.ts';
import { endpointOf } from './endpoints.ts';
import type { ConsoleConfig } from './push-config.ts';
import type { PushKey } from './push-key.ts';

const ANSWER_MS = 10_000;
/** A phone that is off for longer is not told of what waited meanwhile; nor is one whose sign-in ended. */
const MOST_TTL_S = 12 * 3600;
/** Of the notes that wait at the service for one browser, the newest is kept. */
const TOPIC = 'abp-inbox';

/** A note says how many questions wait, and nothing of them. */
interface Note {
  readonly waiting: number;
}

/** The means of sending notes. */
export interface NoteSender {
  readonly key: PushKey;
  readonly config: ConsoleConfig;
  readonly contact: string | undefined;
  readonly outbound: Outbound;
}

/** Sends a note to the push service of one browser, once. `gone`: the service knows the browser no more. */
export async function sendNote(
  { key, config, contact, outbound }: NoteSender,
  { endpoint, p256dh, auth, expires_at: expiresAt }: PushSubscription,
  note: Note,
  signal: AbortSignal,
): Promise<'arrived' | 'gone' | { readonly fault: string }> {
  const url = endpointOf(endpoint, config.push_hosts);
  const { encrypt } = await import('http_ece');
  const own = createECDH('prime256v1');
  own.generateKeys();
  const body = encrypt(Buffer.from(JSON.stringify(note)), { version: 'aes128gcm', privateKey: own, dh: p256dh, authSecret: auth });
  const headers = {
    authorization: await key.authorization(url, contact),
    'content-type': 'application/octet-stream',
    'content-encoding': 'aes128gcm',
    ttl: String(Math.max(0, Math.min(MOST_TTL_S, Math.floor((expiresAt - Date.now()) / 1000)))),
    topic: TOPIC,
    urgency: 'high',
  };
  const request = { url: url.href, method: 'POST', headers, body, timeoutMs: ANSWER_MS, signal, maxRedirects: 0 };
  const { status } = await outbound.read(request, 0);
  if (status === 404 || status === 410) return 'gone';
  return status >= 200 && status < 300 ? 'arrived' : { fault: `${url.host} answered ${status}` };
}
