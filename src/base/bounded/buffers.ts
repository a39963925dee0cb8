import { createHash } from 'node:crypto';
import { ownTurn } from './turns.ts';

/** As much as is copied, hashed or written before others have their turn: one or two milliseconds. */
export const AT_ONCE = 2 * 1024 * 1024;

/** One buffer of several; a lone one is not copied. */
export function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

/** The same where they are many megabytes: in slices, like everything that is done with such a body. */
export async function joinedInTurns(chunks: readonly Buffer[], bytes: number): Promise<Buffer> {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const whole = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  let pause = AT_ONCE;
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += AT_ONCE) {
      at += chunk.copy(whole, at, from, from + AT_ONCE);
      if (at < pause) continue;
      pause = at + AT_ONCE;
      await ownTurn();
    }
  }
  return whole;
}

/** The SHA-256 of a large body. */
export async function digestInTurns(body: Buffer): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < body.length; at += AT_ONCE) {
    await ownTurn();
    hash.update(body.subarray(at, at + AT_ONCE));
  }
  return hash.digest('hex');
}

/** A copy that can change hands between threads, where the bytes are still needed here. */
export async function copyToPost(bytes: Buffer): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += AT_ONCE) {
    if (at > 0) await ownTurn();
    copy.set(bytes.subarray(at, at + AT_ONCE), at);
  }
  return copy;
}
