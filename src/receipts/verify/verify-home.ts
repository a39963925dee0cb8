import type { ChainProblem, ChainVerification } from '../../contract/receipts/chain-verification.ts';
import { chainOf, findChain } from '../../store/receipts/chain.ts';
import type { Store } from '../../store/store.ts';
import { headFile, keptHead } from '../seal/kept-head.ts';
import { heldKeys } from '../seal/seal-keys.ts';
import type { OutsideHead } from './verify-chain.ts';
import { type StoredOptions, verifyStored } from './verify-stored.ts';

/** The home of a chain: its node, and the folder with its keys and the last head that it signed. */
export interface ChainHome {
  readonly node: string;
  readonly keysFolder: string;
}

/**
 * Verifies the chain of a home, or a range of it, by what the home knows without asking the database, which somebody else may have written to:
 * the last head that it signed and kept, and the keys that it holds.
 */
export async function verifyHome(store: Store, home: ChainHome, range: Pick<StoredOptions, 'from' | 'to'>): Promise<ChainVerification> {
  // Read before the chain is, so that entries which come meanwhile are behind the head.
  const head = keptBy(home, await headFile(store, home.keysFolder));
  const chain = await chainOf(store, home.node);
  if (range.to === undefined) return await verifyStored(store, chain, { ...range, head, holds: heldKeys(home.keysFolder) });
  return withProblems(await verifyStored(store, chain, range), await tailProblems(store, home));
}

function keptBy({ node, keysFolder }: ChainHome, file: string): OutsideHead | undefined {
  const kept = keptHead(file, keysFolder, node);
  return kept === undefined ? undefined : { sequence: kept.sequence, hash: kept.hash, node, signed: kept };
}

/** Faults at the end of the chain, from the last head on that this home signed and kept. A quick look: the rest is not read. */
export async function tailProblems(store: Store, home: ChainHome): Promise<readonly ChainProblem[]> {
  const head = keptBy(home, await headFile(store, home.keysFolder));
  if (head === undefined) return [];
  const chain = await findChain(store, home.node);
  if (chain === undefined) {
    const message = `this home has signed ${head.sequence} entries, and the database has no chain of it`;
    return [{ code: 'cut', line: 0, sequence: head.sequence, message }];
  }
  return (await verifyStored(store, chain, { from: head.sequence, head, holds: heldKeys(home.keysFolder) })).problems;
}

/** A verification with problems that somebody else has found; those that it has already are not repeated. */
export function withProblems(found: ChainVerification, problems: readonly ChainProblem[]): ChainVerification {
  const told = new Set(found.problems.map(({ message }) => message));
  const added = problems.filter(({ message }) => !told.has(message));
  const [first] = added;
  if (first === undefined) return found;
  const verdict = found.ok ? `${added.length === 1 ? 'one problem' : `${added.length} problems`}: ${first.message}` : found.verdict;
  return { ...found, ok: false, verdict, problems: [...found.problems, ...added], problem_count: found.problem_count + added.length };
}
