import { AbpError } from '../../contract/errors.ts';
import { type ChainAddition, createChain, findChain, type StoredChain, skipTo } from '../../store/receipts/chain.ts';
import type { NewReceipt } from '../../store/receipts/receipt-columns.ts';
import { type JournalMark, saveReceipts } from '../../store/receipts/receipt-writer.ts';
import type { Store } from '../../store/store.ts';
import type { Sealer } from '../keeper/build.ts';
import { BatchSealer } from './batch-sealer.ts';
import { append, entryTime } from './entry.ts';
import { headFile, keptHead } from './kept-head.ts';
import { firstSigner, readSigner, type Signer } from './seal-keys.ts';

/** The chain of this node, in the hands of its one sealer. */
export class Chain {
  #stored: StoredChain;
  #signer: Signer;
  /** A write failed, and the database may know more than we do. */
  #stale = false;
  readonly #folder: string;

  constructor(stored: StoredChain, signer: Signer, folder: string) {
    this.#stored = stored;
    this.#signer = signer;
    this.#folder = folder;
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

  advance({ after }: ChainAddition, signer: Signer = this.#signer): void {
    this.#stored = { ...this.#stored, ...after, keyId: signer.keyId };
    this.#signer = signer;
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
    await skipTo(store, stored, this.#stored, { id: this.#signer.keyId, publicKey: this.#signer.publicKey });
  }
}

/** Opens the chain of a node; the first time, begins it with a new key. */
export async function openChain(store: Store, node: string, keysFolder: string): Promise<Chain> {
  const stored = await findChain(store, node);
  if (stored !== undefined) return await continued(store, stored, keysFolder);
  const signer = firstSigner(keysFolder);
  const key = { id: signer.keyId, publicKey: signer.publicKey, createdAt: Date.now() };
  return new Chain(await createChain(store, node, key), signer, keysFolder);
}

/** A chain that ends before the last head which this home kept was cut: it goes on behind that head and says what is missing. */
async function continued(store: Store, stored: StoredChain, keysFolder: string): Promise<Chain> {
  const head = keptHead(await headFile(store, keysFolder), keysFolder, stored.node);
  if (head === undefined || head.sequence <= stored.sequence) return new Chain(stored, signerFor(keysFolder, stored.keyId), keysFolder);
  const signer = signerFor(keysFolder, head.key_id);
  const { sequence, hash } = head;
  await skipTo(store, stored, { sequence, hash }, { id: signer.keyId, publicKey: signer.publicKey });
  const chain = new Chain({ ...stored, sequence, hash, keyId: signer.keyId }, signer, keysFolder);
  await append(store, chain, {
    kind: 'cut',
    members: { at: entryTime(), from: stored.sequence + 1, to: sequence },
    signer,
    work: async () => undefined,
  });
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
