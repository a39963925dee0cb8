import { AbpError } from '../../contract/errors.ts';
import type { SignedHead } from '../../contract/receipts/chain.ts';
import { type ChainAddition, createChain, findChain, findHead, type StoredChain, skipTo } from '../../store/receipts/chain.ts';
import type { NewReceipt } from '../../store/receipts/receipt-columns.ts';
import { type JournalMark, saveReceipts } from '../../store/receipts/receipt-writer.ts';
import type { Store } from '../../store/store.ts';
import type { Sealer } from '../keeper/build.ts';
import { BatchSealer } from './batch-sealer.ts';
import { append, entryTime } from './entry.ts';
import { headFile, keptHead, NewestHead, signedHere } from './kept-head.ts';
import { firstSigner, readSigner, type Signer } from './seal-keys.ts';

export interface ChainOptions {
  /** Keeps the head of every batch outside of the database. */
  readonly newest?: NewestHead;
  readonly cut?: boolean;
}

/** The chain of this node, in the hands of its one sealer. */
export class Chain {
  #stored: StoredChain;
  #signer: Signer;
  /** A write failed, and the database may know more than we do. */
  #stale = false;
  /** Entries that this home has signed were gone, or others stood in their place. */
  #cut: boolean;
  readonly #folder: string;
  readonly #newest: NewestHead | undefined;

  constructor(stored: StoredChain, signer: Signer, folder: string, { newest, cut = false }: ChainOptions = {}) {
    this.#stored = stored;
    this.#cut = cut;
    this.#signer = signer;
    this.#folder = folder;
    this.#newest = newest;
  }

  /** Since this process began, it was noticed that entries were taken off the end of the chain or put there. */
  get cut(): boolean {
    return this.#cut;
  }

  get number(): number {
    return this.#stored.number;
  }

  /** Where the chain ends, as far as this process has written it. */
  get stored(): StoredChain {
    return this.#stored;
  }

  /** The end of the chain, read again when a write has failed. */
  async current(store: Store): Promise<StoredChain> {
    if (this.#stale) await this.#reload(store);
    return this.#stored;
  }

  get signer(): Signer {
    return this.#signer;
  }

  /** Writes rows that are made with places in the chain, and the heads that sign them, in one transaction. */
  async save(store: Store, mark: JournalMark, rows: (sealer: Sealer) => Iterable<NewReceipt>): Promise<void> {
    const sealer = await this.#batch(store);
    let added: ChainAddition | undefined;
    const sealed = (): ChainAddition | undefined => {
      added = sealer.finish();
      return added;
    };
    await this.attempt(() => saveReceipts(store, { receipts: rows(sealer), mark, sealed }));
    if (added !== undefined) this.advance(added);
  }

  /** A sealer for what is written next. */
  async #batch(store: Store): Promise<BatchSealer> {
    return new BatchSealer(await this.current(store), this.#signer);
  }

  /** Does a write; after one that failed, the end of the chain is read again. */
  async attempt<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      this.#stale = true;
      throw error;
    }
  }

  advance({ after, heads }: ChainAddition, signer: Signer = this.#signer): void {
    this.#stored = { ...this.#stored, ...after, keyId: signer.keyId };
    this.#signer = signer;
    const last = heads.at(-1);
    if (last !== undefined) this.#newest?.keep(last.document);
  }

  async #reload(store: Store): Promise<void> {
    const stored = await findChain(store, this.#stored.node);
    if (stored === undefined) throw new AbpError('internal', 'the chain of this node is gone from the database');
    if (stored.sequence < this.#stored.sequence) await this.#skip(store, stored);
    else this.#follow(stored);
    this.#stale = false;
  }

  #follow(stored: StoredChain): void {
    this.#signer = signerFor(this.#folder, stored.keyId);
    this.#stored = stored;
  }

  /** The database has lost entries that this process has written: it goes on behind them. */
  async #skip(store: Store, stored: StoredChain): Promise<void> {
    this.#cut = true;
    await skipTo(store, stored, this.#stored, { id: this.#signer.keyId, publicKey: this.#signer.publicKey });
  }
}

/** Opens the chain of a node; the first time, begins it with a new key. */
export async function openChain(store: Store, node: string, keysFolder: string): Promise<Chain> {
  const stored = (await findChain(store, node)) ?? (await begun(store, node, keysFolder));
  const file = await headFile(store, keysFolder);
  const newest = new NewestHead(file);
  const kept = keptHead(file, keysFolder, node);
  if (kept === undefined || (await isOurs(store, stored, keysFolder, kept)))
    return new Chain(stored, signerFor(keysFolder, stored.keyId), keysFolder, { newest });
  return await behind(store, stored, kept, { keysFolder, newest });
}

async function begun(store: Store, node: string, keysFolder: string): Promise<StoredChain> {
  const signer = firstSigner(keysFolder);
  return await createChain(store, node, { id: signer.keyId, publicKey: signer.publicKey, createdAt: Date.now() });
}

/** Whether the end of the chain, as the database has it, is one that this home has signed, and not before the head that it kept. */
async function isOurs(store: Store, { number, sequence, hash, node }: StoredChain, keysFolder: string, kept: SignedHead): Promise<boolean> {
  if (sequence === kept.sequence) return hash === kept.hash;
  if (sequence < kept.sequence) return false;
  // The process that sealed them may have been killed before it kept their head.
  const last = signedHere((await findHead(store, number))?.document ?? '', keysFolder, node);
  return last?.sequence === sequence && last.hash === hash;
}

interface Beside {
  readonly keysFolder: string;
  readonly newest: NewestHead;
}

/**
 * Somebody else has written to the end of the chain: entries are gone, or others stand there. It goes on behind the head that this home
 * kept, and says which entries are not its own; nothing of them is signed over.
 */
async function behind(store: Store, stored: StoredChain, kept: SignedHead, { keysFolder, newest }: Beside): Promise<Chain> {
  const signer = signerFor(keysFolder, kept.key_id);
  // A place that somebody has taken cannot be given again.
  const tip = { sequence: Math.max(stored.sequence, kept.sequence), hash: kept.hash };
  await skipTo(store, stored, tip, { id: signer.keyId, publicKey: signer.publicKey });
  const chain = new Chain({ ...stored, ...tip, keyId: signer.keyId }, signer, keysFolder, { newest, cut: true });
  const from = Math.min(stored.sequence + 1, kept.sequence + (stored.sequence > kept.sequence ? 1 : 0));
  const members = { at: entryTime(), from, to: tip.sequence };
  await append(store, chain, { kind: 'cut', members, signer, work: async () => undefined });
  return chain;
}

function signerFor(folder: string, keyId: string): Signer {
  const signer = readSigner(folder, keyId);
  if (signer !== undefined) return signer;
  throw new AbpError(
    'internal',
    `the key ${keyId} that seals receipts is missing from ${folder}; restore it from a backup, or go on with a new one: abp receipts keys rotate --lost`,
  );
}
