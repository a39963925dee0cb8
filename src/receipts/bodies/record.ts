import { type RunId, writtenRunId } from '../../contract/run-id.ts';

/** A request as the journal has it. Its body follows the meta of the record. */
export interface RequestMeta {
  readonly dialect: string | null;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly sha256: string;
  readonly bytes: number;
}

/** A run begins, or goes on elsewhere: then a later record replaces what an earlier one said. */
export interface BeginMeta {
  readonly startedAt: number;
  readonly keyId: string | null;
  readonly tags: readonly string[];
  readonly engine: string | null;
  readonly model: string | null;
  readonly request: RequestMeta;
  /** The request for the engine; null when it gets the caller's bytes or nothing. */
  readonly sent: RequestMeta | null;
}

/** The head of an answer. */
export interface HeadMeta {
  readonly status: number;
  readonly headers: readonly string[];
  readonly us: number;
}

/** How the engine's answer ended. */
export interface EndMeta {
  /** The answer came to its end. */
  readonly complete: boolean;
  /** The caller needed no more of it, and the engine was let go. */
  readonly cut: boolean;
  /** Digest of the engine's bytes; null when it gave none. */
  readonly sha256: string | null;
  readonly bytes: number;
}

/** A stretch of an answer. Its bytes follow the meta of the record. */
export interface PartMeta {
  readonly head?: HeadMeta;
  /** Length and arrival of each chunk, in turn; the latter in microseconds after the request. */
  readonly marks: readonly number[];
  readonly trailers?: readonly string[];
  readonly end?: EndMeta;
}

export const BEGIN = 1;
/** Bytes of the engine. */
export const ENGINE_PART = 2;
/** Bytes that the caller got instead of them. */
export const CALLER_PART = 3;
export type RecordKind = typeof BEGIN | typeof ENGINE_PART | typeof CALLER_PART;

/** Where a record stands: the number of its segment, and the offset in it. */
export interface Position {
  readonly segment: number;
  readonly offset: number;
}

/** A record as it is known without reading its meta. */
export interface RecordHeader {
  readonly kind: RecordKind;
  /** The run has no further record. */
  readonly last: boolean;
  readonly run: RunId;
  readonly metaBytes: number;
  /** Everything after the header: meta, then bodies. */
  readonly payloadBytes: number;
  /** The record of the run before this one; from the last one all are found. */
  readonly previous: Position | undefined;
}

export const HEADER_BYTES = 40;
const MAGIC = 0x5b42_5041;
const NONE = 0xffff_ffff;

export interface NewRecord {
  readonly kind: RecordKind;
  readonly last: boolean;
  readonly run: RunId;
  readonly previous: Position | undefined;
  readonly meta: BeginMeta | PartMeta;
  readonly bodies: readonly Buffer[];
}

/** The bytes of a record: its header with the meta, then the bodies as they are. Spaces fill the meta up where header and meta have `room`. */
export function encodeRecord({ kind, last, run, previous, meta, bodies }: NewRecord, room = 0): Buffer[] {
  const written = JSON.stringify(meta);
  const text = written + ' '.repeat(Math.max(0, room - HEADER_BYTES - Buffer.byteLength(written)));
  const metaBytes = Buffer.byteLength(text);
  const head = Buffer.allocUnsafe(HEADER_BYTES + metaBytes);
  let payload = metaBytes;
  for (const body of bodies) payload += body.length;
  head.writeUInt32LE(MAGIC, 0);
  head.writeUInt16LE(kind, 4);
  head.writeUInt16LE(last ? 1 : 0, 6);
  head.writeUInt32LE(payload, 8);
  head.writeUInt32LE(metaBytes, 12);
  head.write(run.slice('run_'.length), 16, 'hex');
  head.writeUInt32LE(previous?.segment ?? NONE, 32);
  head.writeUInt32LE(previous?.offset ?? NONE, 36);
  head.write(text, HEADER_BYTES);
  return [head, ...bodies];
}

/** The header at an offset; undefined when there is none, which is where a killed process stopped. */
export function decodeHeader(bytes: Buffer, at: number): RecordHeader | undefined {
  if (bytes.length - at < HEADER_BYTES || bytes.readUInt32LE(at) !== MAGIC) return undefined;
  const segment = bytes.readUInt32LE(at + 32);
  return {
    kind: bytes.readUInt16LE(at + 4) as RecordKind, // written by encodeRecord alone
    last: bytes.readUInt16LE(at + 6) === 1,
    payloadBytes: bytes.readUInt32LE(at + 8),
    metaBytes: bytes.readUInt32LE(at + 12),
    run: writtenRunId(`run_${bytes.toString('hex', at + 16, at + 32)}`),
    previous: segment === NONE ? undefined : { segment, offset: bytes.readUInt32LE(at + 36) },
  };
}
