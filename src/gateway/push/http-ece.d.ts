/** The part of the package that is used here (RFC 8188 with the keys of RFC 8291); it brings no types. */
declare module 'http_ece' {
  import type { ECDH } from 'node:crypto';

  interface Keys {
    readonly version: 'aes128gcm';
    readonly privateKey: ECDH;
    readonly authSecret: string;
  }

  export function encrypt(plain: Buffer, keys: Keys & { readonly dh: string }): Buffer;
  export function decrypt(body: Buffer, keys: Keys): Buffer;
}
