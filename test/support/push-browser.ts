import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';

/** The secrets of a browser that wants to be told: what it gives to a server, and how it reads a note. */
export interface PushBrowser {
  readonly keys: { readonly p256dh: string; readonly auth: string };
  /** The note inside the body of a push, read as RFC 8291 says, without the library that wrote it. */
  read(body: Buffer): string;
}

export function pushBrowser(): PushBrowser {
  const own = createECDH('prime256v1');
  const point = own.generateKeys();
  const auth = randomBytes(16);
  return {
    keys: { p256dh: point.toString('base64url'), auth: auth.toString('base64url') },
    read: (body) => {
      const [salt, idLength] = [body.subarray(0, 16), body.readUInt8(20)];
      const sender = body.subarray(21, 21 + idLength);
      const sealed = body.subarray(21 + idLength);
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), point, sender]);
      const secret = Buffer.from(hkdfSync('sha256', own.computeSecret(sender), auth, info, 32));
      const derive = (name: string, bytes: number): Buffer =>
        Buffer.from(hkdfSync('sha256', secret, salt, `Content-Encoding: ${name}\0`, bytes));
      const cipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12)).setAuthTag(sealed.subarray(-16));
      const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
      const end = plain.lastIndexOf(2);
      return plain.subarray(0, end).toString('utf8');
    },
  };
}
