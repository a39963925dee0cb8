import { crc32 } from 'node:zlib';
import { AbpError } from '../../contract/errors.ts';
import { FACT_ROWS, type FactRow, noneOf } from './fact-rows.ts';
import { FactTexts } from './fact-texts.ts';
import type { Fact } from './facts.ts';
import { type CloseTexts, FIRST_VALUE, type OpenTexts, PLACES, Texts } from './texts.ts';
import { WRITINGS } from './writings.ts';

/**
 * A line of the journal: the kind of fact with the form of the line, the run, the time, the values as JSON text, and a checksum of all
 * that, with tabs between them. JSON text holds no raw tab or line break. Lines are ASCII, which keeps every text at one byte per
 * character.
 */
type Kind = Fact['fact'];
const KINDS = ['open', 'close'] as const;

/** Lines of the first form had no checksum, and these values. */
const FIRST_FORM: Readonly<Record<Kind, string>> = {
  open:
    'plane task dialect engine backend requestedModel upstreamModel mode compatibility negotiation emulations fidelity request ' +
    'upstreamRequest recording enforcement tags keyId parent',
  close:
    'status reason error response upstreamModel eventCount usage toolCalls attempts dispatchedMs firstByteMs lastByteMs cost replayable ' +
    'artifacts workspaceDelta backendVersion prices',
};
const SECOND_FORM = 2;
const NEWEST_FORM = Math.max(...KINDS.flatMap((kind) => FACT_ROWS[kind].map((row) => sinceOf(row, kind))));

/** The form of lines that this row came with, in lines of this kind. */
function sinceOf({ since = SECOND_FORM, closingSince = since }: FactRow, kind: Kind): number {
  return kind === 'close' ? closingSince : since;
}

const CHECKSUM_DIGITS = 8;
const [TAB, LF] = [9, 10];
const HEX = Buffer.from('0123456789abcdef', 'latin1');
/** The value of each byte that is a lower-case hex digit; -1 of all others. */
const DIGITS = Int8Array.from({ length: 256 }, (_, byte) => HEX.indexOf(byte));

/** Bytes of a line that its checksum takes: a tab and the digits. */
const CHECKSUM_BYTES = 1 + CHECKSUM_DIGITS;

const NO_OWN_PATTERNS = new FactTexts();

/** Each row as what takes its value from a fact and writes it. */
const WRITERS = { open: FACT_ROWS.open.map(writerOf), close: FACT_ROWS.close.map(writerOf) } as const;

function writerOf({ fact: name, text }: FactRow): (fact: Fact, texts: FactTexts) => string {
  const { write } = WRITINGS[text];
  // The fact's type comes from the same row: under this name it holds what this writing takes.
  return (fact, texts) => write((fact as unknown as Record<string, never>)[name] as never, texts);
}

/** The journal line of a fact, without its checksum and line break. */
function factText(fact: Fact, texts: FactTexts = NO_OWN_PATTERNS): string {
  const pieces = [`${fact.fact}${NEWEST_FORM}`, fact.run, `${fact.at}`];
  for (const write of WRITERS[fact.fact]) pieces.push(write(fact, texts));
  return pieces.join('\t');
}

/** Where lines are put together. */
let scratch = Buffer.allocUnsafe(64 * 1024);

/** The journal lines of facts, each with its checksum and line break, as bytes that are good until the next call. */
export function factLines(facts: readonly Fact[], texts?: FactTexts): Buffer {
  let at = 0;
  for (const fact of facts) {
    const text = factText(fact, texts);
    const most = at + text.length + CHECKSUM_BYTES + 1;
    if (most > scratch.length) scratch = Buffer.concat([scratch.subarray(0, at)], most * 2);
    const start = at;
    at += scratch.write(text, at, 'latin1');
    at = writeChecksum(crc32(scratch.subarray(start, at)), at);
    scratch[at] = LF;
    at += 1;
  }
  return scratch.subarray(0, at);
}

/** Writes a tab and the digits; where the line goes on. */
function writeChecksum(sum: number, at: number): number {
  scratch[at] = TAB;
  for (let digit = CHECKSUM_DIGITS; digit > 0; digit -= 1) scratch[at + digit] = HEX[(sum >>> ((CHECKSUM_DIGITS - digit) * 4)) & 15] ?? 0;
  return at + CHECKSUM_BYTES;
}

/** The whole journal line of a fact, without its line break. */
export function factLine(fact: Fact, texts?: FactTexts): string {
  return factLines([fact], texts).toString('latin1').slice(0, -1);
}

/** Whether these bytes are a line that ends in the checksum of what stands before it. */
export function hasChecksum(line: Buffer): boolean {
  const end = line.length - CHECKSUM_BYTES;
  return end > 0 && line[end] === TAB && numberAt(line, end + 1) === crc32(line.subarray(0, end));
}

/** The number of eight lower-case hex digits; -1 where they are none. */
function numberAt(bytes: Buffer, from: number): number {
  let number = 0;
  for (let at = from; at < from + CHECKSUM_DIGITS; at += 1) {
    const digit = DIGITS[bytes[at] ?? 0] ?? -1;
    if (digit === -1) return -1;
    number = number * 16 + digit;
  }
  return number;
}

export function isOpening(line: string): boolean {
  return line.startsWith('open');
}

/** The run of a line of either kind. */
export function runOfLine(line: string): string {
  const start = line.indexOf('\t') + 1;
  return line.slice(start, line.indexOf('\t', start));
}

/** Whether the line of an end says whose prices its usage is billed by. */
export function hasPrices(line: string): boolean {
  return !isOpening(line) && parseClosing(line, 'batch').get('prices') !== 'null';
}

/** Cuts a line apart, whose checksum has been looked at. One that is not a fact is a fault worth stopping for. */
export function parseOpening(line: string, segment: string): OpenTexts {
  return new Texts(PLACES.open, valuesOf(line, 'open', segment));
}

export function parseClosing(line: string, segment: string): CloseTexts {
  return new Texts(PLACES.close, valuesOf(line, 'close', segment));
}

function valuesOf(line: string, kind: Kind, segment: string): readonly string[] {
  const values = line.split('\t');
  const layout = LAYOUTS.get(values[0] ?? '');
  if (layout?.kind !== kind || values.length !== layout.count) {
    throw new AbpError('internal', `the journal segment ${segment} holds a damaged line`);
  }
  return layout.arrange(values);
}

/** How the lines of one form are read. */
interface Layout {
  readonly kind: Kind;
  /** Texts of a line, those before the values and the checksum included. */
  readonly count: number;
  readonly checked: boolean;
  /** The texts in the order of the newest form. */
  arrange(values: string[]): readonly string[];
}

/** By the first word of the line. */
export const LAYOUTS: ReadonlyMap<string, Layout> = new Map(
  KINDS.flatMap((kind): [string, Layout][] => [
    [kind, layoutOf(kind, FIRST_FORM[kind].split(' '), false)],
    ...Array.from({ length: NEWEST_FORM - 1 }, (_, at): [string, Layout] => {
      const form = at + SECOND_FORM;
      const names = FACT_ROWS[kind].filter((row) => sinceOf(row, kind) <= form).map(({ fact }) => fact);
      return [`${kind}${form}`, layoutOf(kind, names, true)];
    }),
  ]),
);

function layoutOf(kind: Kind, names: readonly string[], checked: boolean): Layout {
  const rows = FACT_ROWS[kind];
  const sources = rows.map(({ fact }) => names.indexOf(fact) + FIRST_VALUE);
  const isNewest = names.length === rows.length && rows.every(({ fact }, at) => names[at] === fact);
  return {
    kind,
    checked,
    count: FIRST_VALUE + names.length + (checked ? 1 : 0),
    arrange: (values) =>
      isNewest
        ? values
        : [
            ...values.slice(0, FIRST_VALUE),
            // A form that did not know a row yet has nothing in its place.
            ...rows.map((row, at) => ((sources[at] ?? 0) < FIRST_VALUE ? noneOf(row) : (values[sources[at] ?? 0] ?? noneOf(row)))),
          ],
  };
}
