import { findHead, type StoredChain } from '../store/receipts/chain.ts';
import {
  type ChainLine,
  type ChainRange,
  chainEntries,
  chainHeads,
  chosenRange,
  type ExportFilter,
  type SealedRow,
  sealedRows,
} from '../store/receipts/chain-lines.ts';
import { ARCHIVED, DELETED } from '../store/receipts/receipt-columns.ts';
import type { Store } from '../store/store.ts';
import { AUDIT } from './audit/audit-kind.ts';

/** The part of a chain to export: all of it, a range, or the receipts a filter takes. */
export interface ExportOptions {
  readonly filter?: ExportFilter;
  /** First entry; 1 unless told. */
  readonly from?: number | undefined;
  /** Last entry; the export goes on to the next signed head. */
  readonly to?: number | undefined;
}

const PAGE = 500;

/**
 * The lines of an export, in pages: receipts and other entries in the order of the chain, each batch followed by its signed head, so
 * that the last line is one. Receipts that the filter does not take are links: their place and hash, without which nothing after them
 * could be checked.
 */
export async function* exportLines(store: Store, chain: StoredChain, options: ExportOptions = {}): AsyncGenerator<readonly string[]> {
  for await (const { lines } of exportPages(store, chain, options)) yield lines;
}

/** Lines of an export, and the rows that its receipts are from. */
export interface ExportPage {
  readonly lines: readonly string[];
  readonly rows: readonly SealedRow[];
}

export async function* exportPages(store: Store, chain: StoredChain, options: ExportOptions = {}): AsyncGenerator<ExportPage> {
  const { filter = {} } = options;
  const range = await rangeOf(store, chain, options);
  if (range === undefined) return;
  for (let from = range.from; from <= range.to; from += PAGE) {
    yield await page(store, { ...range, from, to: Math.min(from + PAGE - 1, range.to) }, filter);
  }
}

/** The lines of a short range and on to the next signed head; receipts that the filter does not take are links. */
export async function exportRange(
  store: Store,
  chain: StoredChain,
  { filter = {}, from, to }: ExportOptions & { readonly from: number; readonly to: number },
): Promise<readonly string[]> {
  const head = await findHead(store, chain.number, to);
  return (await page(store, { chain: chain.number, from, to: head?.sequence ?? to }, filter)).lines;
}

/** From the first receipt that is wanted to the head that signs the last one. */
async function rangeOf(store: Store, chain: StoredChain, { filter = {}, from, to }: ExportOptions): Promise<ChainRange | undefined> {
  const wanted = isFiltered(filter) ? await chosenRange(store, chain.number, filter) : { from: 1, to: chain.sequence };
  if (wanted === undefined) return undefined;
  const first = Math.max(from ?? 1, wanted.from);
  const last = Math.min(to ?? chain.sequence, wanted.to);
  if (first > last) return undefined;
  const head = await findHead(store, chain.number, last);
  // Without a head the end of the chain was cut off; a verifier of the lines is to see that.
  return { chain: chain.number, from: first, to: head?.sequence ?? last };
}

async function page(store: Store, range: ChainRange, filter: ExportFilter): Promise<ExportPage> {
  const rows = await sealedRows(store, range, filter);
  const others = (await chainEntries(store, range)).map((entry) => (entry.kind === AUDIT && isFiltered(filter) ? linkOf(entry) : entry));
  const entries: ChainLine[] = [...rows.map(entryLine), ...others].sort((a, b) => a.sequence - b.sequence);
  const heads = new Map((await chainHeads(store, range)).map(({ sequence, document }) => [sequence, document]));
  const lines = entries.flatMap(({ sequence, document }) => {
    const head = heads.get(sequence);
    return head === undefined ? [document] : [document, head];
  });
  return { lines, rows };
}

/** Whether the content of a receipt is still there, by the word of its row. */
export function isWhole({ columns: { status } }: SealedRow): boolean {
  return status !== ARCHIVED && status !== DELETED;
}

function entryLine(row: SealedRow): ChainLine {
  const { sequence, document, chosen } = row;
  return {
    sequence,
    document: chosen && isWhole(row) ? document : linkText(sequence, sealedHash(document)),
  };
}

function linkText(sequence: number, hash: string): string {
  return `{"hash":"${hash}","kind":"link","sequence":${sequence}}`;
}

/** Who did what on this server is not for a reader who asked for some receipts. The seal is the last member of an entry. */
function linkOf({ sequence, document }: ChainLine): ChainLine {
  const at = document.lastIndexOf(HASH) + HASH.length;
  return { sequence, document: linkText(sequence, document.slice(at, at + HASH_DIGITS)) };
}

function isFiltered(filter: ExportFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** In a JSON string the quotes would be escaped, so the text stands nowhere else. */
const HASH = '"seal":{"hash":"';
const HASH_DIGITS = 64;

function sealedHash(document: string): string {
  const at = document.indexOf(HASH) + HASH.length;
  return document.slice(at, at + HASH_DIGITS);
}
