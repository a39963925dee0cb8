import { createHmac } from 'node:crypto';

/** How keys are written by the programs that make them for this scheme: base64 behind a prefix. Other secrets are taken as they stand. */
const KEY_PREFIX = 'whsec_';

/**
 * The headers that prove where a notice comes from and when it was sent, as the Standard Webhooks specification has them: libraries in most
 * languages verify them. The signature is over id, time and body, so that none can be exchanged or sent again later.
 */
export function signedHeaders(id: string, body: string, secret: string | undefined, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const headers = { 'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === undefined) return headers;
  const key = secret.startsWith(KEY_PREFIX) ? Buffer.from(secret.slice(KEY_PREFIX.length), 'base64') : Buffer.from(secret, 'utf8');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}
