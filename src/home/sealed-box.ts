import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const BOX_KEY_BYTES = 32;

/** A key for one purpose out of a longer-lived secret. */
export function derivedKey(secret: string | Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, BOX_KEY_BYTES));
}

/** Encrypts with AES-256-GCM under a nonce of its own. Only who names the same context can open it. */
export function sealBox(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Opens a sealed box; undefined when the key or the context is another one, or a bit was changed. */
export function openBox(key: Uint8Array, box: Uint8Array, context: string): Buffer | undefined {
  if (box.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const end = box.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, box.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(box.subarray(end));
  try {
    return Buffer.concat([decipher.update(box.subarray(NONCE_BYTES, end)), decipher.final()]);
  } catch {
    // The tag does not fit: that is the answer.
    return undefined;
  }
}
