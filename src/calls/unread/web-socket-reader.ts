import { constants, createInflateRaw, type InflateRaw } from 'node:zlib';

/** Ends each compressed message, and is left out on the wire (RFC 7692, 7.2.1). */
const TAIL = Buffer.from([0x00, 0x00, 0xff, 0xff]);
/** Longer messages are sound or pictures, which tell nothing. */
const MOST_READ = 4 * 1024 * 1024;
const CONTINUED = 0x0;
const TEXT = 0x1;
const BINARY = 0x2;

/** The head of a frame. */
interface Head {
  readonly last: boolean;
  readonly compressed: boolean;
  readonly opcode: number;
  readonly length: number;
  readonly mask: Buffer | undefined;
  /** Bytes of the head itself. */
  readonly size: number;
}

/** Reads the messages of one end of a WebSocket as its bytes go by (RFC 6455). What is no WebSocket is not read. */
export class WebSocketReader {
  readonly #hear: (message: Buffer) => void;
  readonly #inflate: InflateRaw | undefined;
  #inflated: Buffer[] = [];
  /** Resolves when every compressed message so far has been heard. */
  #settled: Promise<void> = Promise.resolve();
  #held: Buffer = Buffer.alloc(0);
  #message: Buffer[] = [];
  #size = 0;
  #compressed = false;
  #blind = false;

  /** `compressed`: both ends have agreed to compress messages. */
  constructor(compressed: boolean, hear: (message: Buffer) => void) {
    this.#hear = hear;
    if (!compressed) return;
    this.#inflate = createInflateRaw({ flush: constants.Z_SYNC_FLUSH });
    this.#inflate.on('data', (piece: Buffer) => this.#inflated.push(piece)).on('error', () => this.stop());
  }

  /** Nothing more is of interest. */
  stop(): void {
    this.#blind = true;
    this.#held = Buffer.alloc(0);
    this.#message = [];
  }

  chunk(chunk: Buffer): void {
    if (this.#blind) return;
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    for (let head = headOf(this.#held); head !== undefined && !this.#blind; head = headOf(this.#held)) {
      if (head.length > MOST_READ * 16) this.stop();
      if (this.#held.length < head.size + head.length) return;
      const payload = this.#held.subarray(head.size, head.size + head.length);
      this.#held = this.#held.subarray(head.size + head.length);
      this.#frame(head, payload);
    }
  }

  async done(): Promise<void> {
    await this.#settled;
    this.#inflate?.destroy();
  }

  #frame({ opcode, last, compressed, mask }: Head, payload: Buffer): void {
    if (opcode !== CONTINUED && opcode !== TEXT && opcode !== BINARY) return;
    if (opcode !== CONTINUED) {
      this.#message = [];
      this.#size = 0;
      this.#compressed = compressed;
    }
    this.#size += payload.length;
    // A compressed message is read whatever its length: the next one may refer to it.
    if (this.#size <= MOST_READ || this.#compressed) this.#message.push(mask === undefined ? payload : unmasked(payload, mask));
    if (!last) return;
    const message = Buffer.concat(this.#message);
    this.#message = [];
    if (this.#compressed) this.#decompress(message);
    else if (this.#size <= MOST_READ) this.#hear(message);
  }

  #decompress(message: Buffer): void {
    const inflate = this.#inflate;
    if (inflate === undefined) return;
    this.#settled = new Promise((resolve) => {
      inflate.once('error', () => resolve());
      inflate.write(Buffer.concat([message, TAIL]), () => {
        const whole = Buffer.concat(this.#inflated);
        this.#inflated = [];
        if (!this.#blind) this.#hear(whole);
        resolve();
      });
    });
  }
}

/** Undefined while it is not here as a whole. */
function headOf(bytes: Buffer): Head | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  const short = second & 0x7f;
  const wide = short === 126 ? 2 : short === 127 ? 8 : 0;
  const masked = (second & 0x80) !== 0;
  const size = 2 + wide + (masked ? 4 : 0);
  if (bytes.length < size) return undefined;
  const length = wide === 0 ? short : wide === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const mask = masked ? bytes.subarray(size - 4, size) : undefined;
  return { last: (first & 0x80) !== 0, compressed: (first & 0x40) !== 0, opcode: first & 0x0f, length, mask, size };
}

function unmasked(payload: Buffer, mask: Buffer): Buffer {
  return Buffer.from(payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
}
