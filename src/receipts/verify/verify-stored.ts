import { AbpError } from '../../contract/errors.ts';
import type { ChainVerification } from '../../contract/receipts/chain-verification.ts';
import type { RunId } from '../../contract/run-id.ts';
import { listChains, listSealKeys, type StoredChain } from '../../store/receipts/chain.ts';
import { findLateEnd } from '../../store/receipts/late-ends.ts';
import { getReceipt } from '../../store/receipts/receipts.ts';
import type { Store } from '../../store/store.ts';
import { type ExportOptions, exportLines } from '../export.ts';
import { ChainVerifier, type OutsideHead } from './verify-chain.ts';

/** How stored receipts are verified. */
export interface StoredOptions extends Pick<ExportOptions, 'from' | 'to'> {
  /** Keys to trust; the ones in the database unless told, which only shows that the database agrees with itself. */
  readonly publicKeys?: readonly string[] | undefined;
  readonly head?: OutsideHead | undefined;
}

/** Verifies a chain, or a range of it, as the database holds it. */
export async function verifyStored(store: Store, chain: StoredChain, options: StoredOptions = {}): Promise<ChainVerification> {
  const { publicKeys = (await listSealKeys(store, chain.number)).map((key) => key.publicKey), head, ...range } = options;
  const tip = range.to === undefined ? chain : undefined;
  const verifier = new ChainVerifier({ publicKeys, head, tip, mayBeEmpty: range.from === undefined && range.to === undefined });
  for await (const lines of exportLines(store, chain, range)) for (const line of lines) verifier.line(line);
  return verifier.end();
}

/** Verifies one receipt: its own hash, and its link to the next signed head. */
export async function verifyRun(store: Store, run: RunId, options: Pick<StoredOptions, 'publicKeys'> = {}): Promise<ChainVerification> {
  const row = await getReceipt(store, run);
  if (row === undefined) throw new AbpError('not_found', `There is no receipt for ${run}.`, { run_id: run });
  if (row.sequence === null) throw new AbpError('conflict', `The run ${run} is not sealed: it has not ended.`, { run_id: run });
  const chain = (await listChains(store)).find(({ number }) => number === row.chain);
  if (chain === undefined) throw new AbpError('internal', `the chain of ${run} is gone from the database`);
  const found = await verifyStored(store, chain, { ...options, from: row.sequence, to: row.sequence });
  return { ...found, notes: [...found.notes, ...(await lateNotes(store, run))] };
}

/** What the node of a run said later. */
async function lateNotes(store: Store, run: RunId): Promise<string[]> {
  const late = await findLateEnd(store, run);
  if (late === undefined) return [];
  const { node, status } = late.document;
  return [`${node} came back after it was taken for lost; entry ${late.sequence} of its chain says that the run was ${status}`];
}
