import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyDigest } from './body-digest.ts';

const chunks = fc.array(
  fc.nat(9000).map((length) => Buffer.alloc(length, length % 251)),
  { maxLength: 12 },
);

describe('the digest of a body that comes in chunks', () => {
  it('is that of the whole body, however it is cut', () => {
    fc.assert(
      fc.property(chunks, (body) => {
        const digest = new BodyDigest();
        for (const chunk of body) digest.update(chunk);
        const whole = Buffer.concat(body);
        expect(digest.done().digest).toEqual({ sha256: createHash('sha256').update(whole).digest('hex'), bytes: whole.length });
      }),
    );
  });

  it('gives every byte back once, in order', () => {
    fc.assert(
      fc.property(chunks, (body) => {
        const digest = new BodyDigest();
        const seen = body.map((chunk) => digest.update(chunk) ?? Buffer.alloc(0));
        expect(Buffer.concat([...seen, digest.done().rest])).toEqual(Buffer.concat(body));
      }),
    );
  });
});
