import { constants, createInflateRaw, type InflateRaw } from 'node:zlib';

/** Ends each compressed message, and is left out on the wire (RFC 7692, 7.2.1). */
const TAIL = Buffer.from([0x00, 0x00, 0xff, 0xff]);
/** Longer messages are sound or pictures, which tell nothing. Compressed bytes that wait are bounded by the same. */
const MOST_READ = 4 * 1024 * 1024;
/** What one message may be decompressed to. */
const MOST_INFLATED = 4 * MOST_READ;
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
  #inflatedBytes = 0;
  /** Compressed bytes that are not decompressed yet. */
  #waiting = 0;
  /** Resolves when every compressed message so far has been heard. */
  #settled: Promise<void> = Promise.resolve();
  /** Resolves when nothing more is read: what waits to be decompressed then is given up. */
  readonly #stopped = Promise.withResolvers<void>();
  /** Bytes of a frame that is not here as a whole, as they came. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** So many bytes must be here before there is anything to read: pieces are joined once a frame, not at each of them. */
  #needed = 1;
  /** Bytes of a frame that is too long to be read, which are still to come. */
  #passing = 0;
  #message: Buffer[] = [];
  #size = 0;
  #compressed = false;
  #blind = false;

  /** `compressed`: both ends have agreed to compress messages. */
  constructor(compressed: boolean, hear: (message: Buffer) => void) {
    this.#hear = hear;
    if (!compressed) return;
    this.#inflate = createInflateRaw({ flush: constants.Z_SYNC_FLUSH });
    this.#inflate.on('data', (piece: Buffer) => this.#keep(piece)).on('error', () => this.stop());
  }

  /** Nothing more is of interest. */
  stop(): void {
    this.#blind = true;
    this.#held = [];
    this.#message = [];
    this.#inflated = [];
    this.#inflate?.destroy();
    this.#stopped.resolve();
  }

  chunk(chunk: Buffer): void {
    if (this.#blind) return;
    const passed = Math.min(this.#passing, chunk.length);
    this.#passing -= passed;
    if (passed === chunk.length) return;
    this.#held.push(passed === 0 ? chunk : chunk.subarray(passed));
    this.#heldBytes += chunk.length - passed;
    if (this.#heldBytes >= this.#needed) this.#read(this.#held.length === 1 ? (this.#held[0] ?? chunk) : Buffer.concat(this.#held));
  }

  async done(): Promise<void> {
    await Promise.race([this.#settled, this.#stopped.promise]);
    this.#inflate?.destroy();
  }

  #read(bytes: Buffer): void {
    let rest = bytes;
    let head = headOf(rest);
    while (head !== undefined && !this.#blind) {
      const end = head.size + head.length;
      if (head.length > MOST_READ) this.#pass(head, end - rest.length);
      else if (rest.length < end) break;
      else this.#frame(head, rest.subarray(head.size, end));
      rest = rest.subarray(Math.min(end, rest.length));
      head = headOf(rest);
    }
    if (this.#blind) return;
    this.#held = rest.length === 0 ? [] : [rest];
    this.#heldBytes = rest.length;
    this.#needed = head === undefined ? rest.length + 1 : head.size + head.length;
  }

  /** Passes over a frame of which `missing` bytes are still to come. What was compressed after it cannot be read without it. */
  #pass(head: Head, missing: number): void {
    if (this.#inflate !== undefined && (head.opcode === CONTINUED ? this.#compressed : head.compressed)) this.stop();
    else this.#frame(head, TOO_LONG);
    this.#passing = Math.max(0, missing);
  }

  /** A few bytes can stand for very many. */
  #keep(piece: Buffer): void {
    this.#inflatedBytes += piece.length;
    if (this.#inflatedBytes > MOST_INFLATED) this.stop();
    else this.#inflated.push(piece);
  }

  #frame({ opcode, last, compressed, mask }: Head, payload: Buffer): void {
    if (opcode !== CONTINUED && opcode !== TEXT && opcode !== BINARY) return;
    if (opcode !== CONTINUED) {
      this.#message = [];
      this.#size = 0;
      this.#compressed = compressed;
    }
    this.#size += payload === TOO_LONG ? MOST_READ + 1 : payload.length;
    if (this.#size <= MOST_READ) this.#message.push(mask === undefined ? payload : unmasked(payload, mask));
    // A message that is not decompressed leaves those after it without what they may refer to.
    else if (this.#compressed) this.stop();
    else this.#message = [];
    if (!last || this.#blind) return;
    const message = Buffer.concat(this.#message);
    this.#message = [];
    if (this.#compressed) this.#decompress(message);
    else if (this.#size <= MOST_READ) this.#hear(message);
  }

  #decompress(message: Buffer): void {
    const inflate = this.#inflate;
    if (inflate === undefined) return;
    this.#waiting += message.length;
    if (this.#waiting > MOST_READ) {
      this.stop();
      return;
    }
    this.#settled = new Promise((resolve) => {
      inflate.once('error', () => resolve());
      inflate.write(Buffer.concat([message, TAIL]), () => {
        const whole = Buffer.concat(this.#inflated);
        this.#inflated = [];
        this.#inflatedBytes = 0;
        this.#waiting -= message.length;
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
  const plain = Buffer.from(payload);
  for (let at = 0; at < plain.length; at += 1) plain[at] = (plain[at] ?? 0) ^ (mask[at & 3] ?? 0);
  return plain;
}

/** Stands for a payload that was not kept. */
const TOO_LONG = Buffer.alloc(0);
