import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { Removal } from '../../contract/receipts/chain.ts';
import type { ChainProblem, ChainVerification } from '../../contract/receipts/chain-verification.ts';
import type { RunId } from '../../contract/run-id.ts';
import { listChains, listSealKeys, type StoredChain } from '../../store/receipts/chain.ts';
import { entriesOfKind, type SealedRow } from '../../store/receipts/chain-lines.ts';
import { findLateEnd } from '../../store/receipts/late-ends.ts';
import { differingColumns, facetsReader, type StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import { endedOutsideChains, getReceipt } from '../../store/receipts/receipts.ts';
import type { Store } from '../../store/store.ts';
import { type ExportOptions, exportPages, isWhole } from '../export.ts';
import { parsedText } from '../seal/canonical-text.ts';
import { valueAt } from '../seal/content-hash.ts';
import { ChainVerifier, type OutsideHead } from './verify-chain.ts';

/** How stored receipts are verified. */
export interface StoredOptions extends Pick<ExportOptions, 'from' | 'to'> {
  /** Keys to trust; the ones in the database unless told, which only shows that the database agrees with itself. */
  readonly publicKeys?: readonly string[] | undefined;
  readonly head?: OutsideHead | undefined;
  /** As for `ChainVerifier`. */
  readonly holds?: readonly string[] | undefined;
}

/** Verifies a chain, or a range of it, as the database holds it. */
export async function verifyStored(store: Store, chain: StoredChain, options: StoredOptions = {}): Promise<ChainVerification> {
  const { publicKeys = (await listSealKeys(store, chain.number)).map((key) => key.publicKey), head, holds, ...range } = options;
  const tip = range.to === undefined ? chain : undefined;
  const isAll = range.from === undefined && range.to === undefined;
  const removed = isAll ? [] : (await entriesOfKind(store, chain.number, 'removal')).flatMap(removedPlaces);
  const verifier = new ChainVerifier({ publicKeys, head, holds, tip, mayBeEmpty: isAll, isStore: true, removed });
  for await (const { lines, rows } of exportPages(store, chain, range)) {
    for (const line of lines) verifier.line(line);
    for (const row of rows) if (isWhole(row)) checkColumns(row, verifier);
  }
  const note = isAll ? await checkUnsealed(store, verifier) : undefined;
  const found = verifier.end();
  return note === undefined ? found : { ...found, notes: [...found.notes, note] };
}

/**
 * A run ends and is sealed in one transaction, so that a row of an ended run which stands in no chain was put there by somebody else:
 * except by the versions before the first key, which sealed nothing. Returns what to say of the rows of those.
 */
async function checkUnsealed(store: Store, verifier: ChainVerifier): Promise<string | undefined> {
  const found = await endedOutsideChains(store);
  if (found === undefined) return undefined;
  const { count, run, lastEnd } = found;
  const which = count === 1 ? `the receipt of ${run} stands` : `${count} receipts, that of ${run} among them, stand`;
  const [first] = await listSealKeys(store);
  if (first !== undefined && lastEnd >= first.createdAt) {
    verifier.row({ code: 'unsealed', run_id: run, message: `${which} in the database and in no chain, and the run has ended` });
    return undefined;
  }
  return `${which} in no chain, from the time before anything was sealed here; nothing shows whether somebody has changed or added one`;
}

const facetsOf = facetsReader((leaf) => (document: JsonObject) => valueAt(document, leaf.path), {});

/** Lists and permissions look at columns: they must say what the sealed document says. */
function checkColumns({ sequence, document, columns, runKey: key }: SealedRow, verifier: ChainVerifier): void {
  const receipt = parseJson(document);
  // A document that is no JSON object is a problem of its line already.
  if (!receipt.ok || !isJsonObject(receipt.value)) return;
  const { value } = receipt;
  const wrong = differingColumns(columns, facetsOf(value));
  if (value.run_id !== `run_${key}`) verifier.row(columnProblem(sequence, 'run_id'));
  for (const name of wrong) verifier.row({ ...columnProblem(sequence, name), run_id: String(value.run_id) });
}

function columnProblem(sequence: number, name: string): Omit<ChainProblem, 'line'> {
  return {
    code: 'column_changed',
    sequence,
    message: `entry ${sequence} stands in the database with another ${name} than it was sealed with`,
  };
}

function removedPlaces(document: string): number[] {
  const removal = Removal.safeParse(parsedText(document));
  return removal.success ? removal.data.receipts.map(({ sequence }) => sequence) : [];
}

/** The error for a receipt that stands in no chain. */
export function notSealed({ runId, completedAt }: Pick<StoredReceipt, 'runId' | 'completedAt'>): AbpError {
  const why =
    completedAt === null
      ? 'it has not ended'
      : 'it has ended, but a version that seals receipts did not write its row, or somebody put it there';
  return new AbpError('conflict', `The run ${runId} is not sealed: ${why}.`, { run_id: runId });
}

/** Verifies one receipt: its own hash, and its link to the next signed head. */
export async function verifyRun(store: Store, run: RunId, options: Pick<StoredOptions, 'publicKeys'> = {}): Promise<ChainVerification> {
  const row = await getReceipt(store, run);
  if (row === undefined) throw new AbpError('not_found', `There is no receipt for ${run}.`, { run_id: run });
  if (row.sequence === null) throw notSealed(row);
  const chain = (await listChains(store)).find(({ number }) => number === row.chain);
  if (chain === undefined) throw new AbpError('internal', `the chain of ${run} is gone from the database`);
  const found = await verifyStored(store, chain, { ...options, from: row.sequence, to: row.sequence });
  return { ...found, notes: [...found.notes, ...(await lateNotes(store, run))] };
}

/** The late word of a run's node. */
async function lateNotes(store: Store, run: RunId): Promise<string[]> {
  const late = await findLateEnd(store, run);
  if (late === undefined) return [];
  const { node, status } = late.document;
  return [`${node} came back after it was taken for lost; entry ${late.sequence} of its chain says that the run was ${status}`];
}
