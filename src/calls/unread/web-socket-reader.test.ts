import { constants, createDeflateRaw, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WebSocketReader } from './web-socket-reader.ts';

/** A frame as RFC 6455 writes it. */
function frame(payload: Buffer, { opcode = 1, last = true, compressed = false, mask }: FrameOptions = {}): Buffer {
  const first = (last ? 0x80 : 0) | (compressed ? 0x40 : 0) | opcode;
  const long = payload.length > 65_535;
  const length = payload.length < 126 ? payload.length : long ? 127 : 126;
  const wide = Buffer.alloc(length === 127 ? 8 : length === 126 ? 2 : 0);
  if (length === 127) wide.writeBigUInt64BE(BigInt(payload.length));
  else if (length === 126) wide.writeUInt16BE(payload.length);
  const body = mask === undefined ? payload : Buffer.from(payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
  return Buffer.concat([Buffer.from([first, length | (mask === undefined ? 0 : 0x80)]), wide, mask ?? Buffer.alloc(0), body]);
}

interface FrameOptions {
  readonly opcode?: number;
  readonly last?: boolean;
  readonly compressed?: boolean;
  readonly mask?: Buffer;
}

async function heard(bytes: Buffer, cuts: readonly number[] = [], compressed = false): Promise<string[]> {
  const messages: string[] = [];
  const reader = new WebSocketReader(compressed, (message) => void messages.push(message.toString('utf8')));
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let start = 0;
  for (const end of [...at, bytes.length]) {
    reader.chunk(bytes.subarray(start, end));
    start = end;
  }
  await reader.done();
  return messages;
}

describe('the reader of a WebSocket', () => {
  it('hears every message, wherever its bytes are cut', async () => {
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 300 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat(), { maxLength: 10 }), fc.boolean(), async (said, cuts, masked) => {
        const mask = masked ? { mask: Buffer.from([1, 200, 3, 99]) } : {};
        const bytes = Buffer.concat(said.map((text) => frame(Buffer.from(text), mask)));
        expect(await heard(bytes, cuts)).toEqual(said.map((text) => Buffer.from(text).toString('utf8')));
      }),
      { numRuns: 200 },
    );
  });

  it('joins pieces of a message, with pings between them', async () => {
    const pieces = [
      frame(Buffer.from('one '), { last: false }),
      frame(Buffer.from('ping'), { opcode: 9 }),
      frame(Buffer.from('two'), { opcode: 0 }),
      frame(Buffer.alloc(70_000, 'a'), { opcode: 2 }),
    ];
    const [first, second] = await heard(Buffer.concat(pieces));
    expect([first, second?.length]).toEqual(['one two', 70_000]);
  });

  it('inflates messages that refer to those before them', async () => {
    const deflate = createDeflateRaw();
    const messages: Buffer[] = [];
    for (const text of ['the same words again and again', 'the same words again and again', 'end']) {
      const pieces: Buffer[] = [];
      const take = (piece: Buffer): void => void pieces.push(piece);
      deflate.on('data', take);
      await new Promise<void>((resolve) => {
        deflate.write(text);
        deflate.flush(constants.Z_SYNC_FLUSH, () => resolve());
      });
      deflate.off('data', take);
      messages.push(frame(Buffer.concat(pieces).subarray(0, -4), { compressed: true }));
    }
    expect(messages[1]?.length).toBeLessThan(20);
    expect(await heard(Buffer.concat(messages), [3, 17, 40], true)).toEqual([
      'the same words again and again',
      'the same words again and again',
      'end',
    ]);
  });

  it('passes over a frame that is too long, or pieces that come to too much, and hears what follows', async () => {
    const long = frame(Buffer.alloc(20 * 1024 * 1024, 'a'), { opcode: 2 });
    const pieces = [0, 1, 2].map((at) => frame(Buffer.alloc(3 * 1024 * 1024, 'b'), { opcode: at === 0 ? 2 : 0, last: at === 2 }));
    const bytes = Buffer.concat([
      frame(Buffer.from('before')),
      long,
      frame(Buffer.from('between')),
      ...pieces,
      frame(Buffer.from('after')),
    ]);
    const cuts = Array.from({ length: Math.floor(bytes.length / 65_536) }, (_, at) => (at + 1) * 65_536);
    expect(await heard(bytes, cuts)).toEqual(['before', 'between', 'after']);
  });

  it.each([
    ['stands for far more bytes than it has', frame(deflateRawSync(Buffer.alloc(64 * 1024 * 1024)), { compressed: true })],
    ['is too long itself', frame(Buffer.alloc(5 * 1024 * 1024, 1), { compressed: true })],
  ])('stops reading at a compressed message that %s', async (_, message) => {
    const after = frame(deflateRawSync('after'), { compressed: true });
    expect(await heard(Buffer.concat([message, after]), [70_000], true)).toEqual([]);
  });

  it('reads nothing out of bytes that are no WebSocket, and does not break on them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), fc.boolean(), async (bytes, compressed) => {
        await heard(Buffer.from(bytes), [5, 50], compressed);
      }),
      { numRuns: 300 },
    );
  });
});
