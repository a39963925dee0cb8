import { parseJson } from '../../base/json.ts';
import { hasChecksum, LAYOUTS } from './fact-line.ts';

/** Bytes of a segment that are no facts. */
export interface Damage {
  /** Where they begin in the segment. */
  readonly offset: number;
  /** A character per byte. */
  readonly text: string;
}

/** The lines of a part of a segment that are facts, and what is not. */
export interface Sifted {
  readonly lines: readonly string[];
  readonly damage: readonly Damage[];
}

const RUN = /^run_[0-9a-f]{32}$/;
const BEGINNING = /(?:open|close)\d*\t/g;

/** Tells facts from damage. The bytes are a part of a segment and begin at this offset of it. */
export function sift(bytes: Buffer, offset: number): Sifted {
  const lines: string[] = [];
  const damage: Damage[] = [];
  let at = 0;
  for (const line of bytes.toString('latin1').split('\n')) {
    const end = at + line.length;
    if (isChecked(line, bytes, at, end) || isWhole(line)) lines.push(line);
    else if (line !== '') rescue(line, offset + at, { lines, damage });
    at = end + 1;
  }
  return { lines, damage };
}

/** Whether the line has the checksum of its bytes: nearly every one does, and it is seen without copying any of them. */
function isChecked(line: string, bytes: Buffer, from: number, to: number): boolean {
  return (LAYOUTS.get(line.slice(0, line.indexOf('\t')))?.checked ?? false) && hasChecksum(bytes.subarray(from, to));
}

/** Whether the line is a fact as it was written. Lines of the first form had no checksum: they are looked at as closely as can be. */
function isWhole(line: string): boolean {
  const layout = LAYOUTS.get(line.slice(0, line.indexOf('\t')));
  if (layout === undefined) return false;
  if (layout.checked) return hasChecksum(Buffer.from(line, 'latin1'));
  const [, run = '', at = '', ...values] = line.split('\t');
  return values.length + 3 === layout.count && RUN.test(run) && /^\d+$/.test(at) && values.every((value) => parseJson(value).ok);
}

/** A line break that was changed or lost makes one line of two; a byte too much may stand on either side of one. What is whole is kept. */
function rescue(line: string, offset: number, { lines, damage }: { lines: string[]; damage: Damage[] }): void {
  let from = 0;
  const beginnings = [...line.matchAll(BEGINNING)].map(({ index }) => index);
  for (const at of [...beginnings, line.length]) {
    const before = [line.slice(from, at), line.slice(from, Math.max(from, at - 1))].find(isWhole);
    if (before !== undefined) {
      lines.push(before);
      from = at;
    }
    const rest = line.slice(at);
    if (at > 0 && isWhole(rest)) {
      if (at > from) addDamage(damage, { offset: offset + from, text: line.slice(from, at) });
      lines.push(rest);
      return;
    }
  }
  if (from < line.length) addDamage(damage, { offset: offset + from, text: line.slice(from) });
}

/** Damaged lines that follow each other are one gap. */
function addDamage(damage: Damage[], added: Damage): void {
  const last = damage.at(-1);
  if (last !== undefined && last.offset + last.text.length + 1 === added.offset) {
    damage[damage.length - 1] = { offset: last.offset, text: `${last.text}\n${added.text}` };
  } else {
    damage.push(added);
  }
}
