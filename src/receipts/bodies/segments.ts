import { closeSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CLOSED_SUFFIX, OPEN_SUFFIX } from './journal.ts';
import { decodeHeader, HEADER_BYTES, type RecordHeader } from './record.ts';

const WINDOW_BYTES = 512 * 1024;

/** A segment on disk. `process` and `number` are in its name. */
export interface Segment {
  readonly stem: string;
  /** Segments of one process share it. */
  readonly process: string;
  readonly number: number;
  readonly closed: boolean;
}

/** A whole record in a segment. */
export interface Found {
  readonly header: RecordHeader;
  readonly offset: number;
  /** Meta and bodies. Only valid until the next window is read. */
  readonly payload: Buffer;
}

/** Reads segments: in windows from a position on, and single records at an offset. */
export class Segments {
  readonly #folder: string;
  #window = Buffer.allocUnsafe(WINDOW_BYTES);
  #stem = '';
  #start = 0;
  #end = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Oldest first. */
  list(): Segment[] {
    return readdirSync(this.#folder).sort().flatMap(segmentOf);
  }

  /** Whole records from the position on, and where the next one begins. Nothing when there are none yet. */
  read(segment: Segment, position: number): { records: Found[]; next: number } {
    // A large body is rare; its window is not kept.
    if (this.#window.length > WINDOW_BYTES) this.#window = Buffer.allocUnsafe(WINDOW_BYTES);
    let records = this.#fill(segment.stem, position);
    while (records.length === 0 && this.#grow()) records = this.#fill(segment.stem, position);
    const last = records.at(-1);
    return { records, next: last === undefined ? position : last.offset + HEADER_BYTES + last.header.payloadBytes };
  }

  /** The record at an offset; undefined when there is none. */
  at(stem: string, offset: number): Found | undefined {
    const header = decodeHeader(this.#bytes(stem, offset, HEADER_BYTES), 0);
    if (header === undefined) return undefined;
    const payload = this.#bytes(stem, offset + HEADER_BYTES, header.payloadBytes);
    return payload.length < header.payloadBytes ? undefined : { header, offset, payload };
  }

  remove(stem: string): void {
    rmSync(join(this.#folder, `${stem}${CLOSED_SUFFIX}`), { force: true });
    this.#stem = '';
  }

  #fill(stem: string, position: number): Found[] {
    this.#stem = stem;
    this.#start = position;
    this.#end = position + this.#readInto(stem, this.#window, position);
    const filled = this.#window.subarray(0, this.#end - position);
    const records: Found[] = [];
    for (let at = 0; ; ) {
      const header = decodeHeader(filled, at);
      const end = at + HEADER_BYTES + (header?.payloadBytes ?? 0);
      if (header === undefined || end > filled.length) return records;
      records.push({ header, offset: position + at, payload: filled.subarray(at + HEADER_BYTES, end) });
      at = end;
    }
  }

  /** A larger window for a record that does not fit; false when the file itself ends here. */
  #grow(): boolean {
    if (this.#end - this.#start < this.#window.length) return false;
    this.#window = Buffer.allocUnsafe(this.#window.length * 4);
    return true;
  }

  /** From the window where it has them, else from the file. */
  #bytes(stem: string, offset: number, length: number): Buffer {
    if (stem === this.#stem && offset >= this.#start && offset + length <= this.#end) {
      return this.#window.subarray(offset - this.#start, offset - this.#start + length);
    }
    const bytes = Buffer.allocUnsafe(length);
    return bytes.subarray(0, this.#readInto(stem, bytes, offset));
  }

  #readInto(stem: string, buffer: Buffer, position: number): number {
    const fd = openEither(join(this.#folder, stem));
    if (fd === undefined) return 0;
    try {
      return readSync(fd, buffer, 0, buffer.length, position);
    } finally {
      closeSync(fd);
    }
  }
}

/** A segment may be closed, and so renamed, at any moment. */
function openEither(file: string): number | undefined {
  for (const suffix of [OPEN_SUFFIX, CLOSED_SUFFIX]) {
    try {
      return openSync(`${file}${suffix}`, 'r');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  return undefined;
}

function segmentOf(name: string): Segment[] {
  const closed = name.endsWith(CLOSED_SUFFIX);
  if (!closed && !name.endsWith(OPEN_SUFFIX)) return [];
  const stem = name.slice(0, -(closed ? CLOSED_SUFFIX : OPEN_SUFFIX).length);
  const cut = stem.lastIndexOf('-');
  return [{ stem, process: stem.slice(0, cut), number: Number(stem.slice(cut + 1)), closed }];
}

/** The name of another segment of the same process. */
export function siblingStem(process: string, number: number): string {
  return `${process}-${String(number).padStart(6, '0')}`;
}
