import { canonicalJson, sha256 } from '../../base/canonical-json.ts';
import { isoTime } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Seal } from '../../contract/receipts/parts.ts';
import { appendEntry, type ChainAddition, type StoredChain } from '../../store/receipts/chain.ts';
import type { Store } from '../../store/store.ts';
import { signedHead } from './head.ts';
import type { Signer } from './seal-keys.ts';

/** The hash of an entry: over its RFC 8785 form without `seal.hash`, and without signatures, which are made over the hash. */
export function entryHash({ signatures: _signatures, ...entry }: JsonObject & { readonly seal: JsonObject }): string {
  const { hash: _hash, ...seal } = entry.seal;
  return sha256(canonicalJson({ ...entry, seal }));
}

/** The parts of an entry that is not a receipt. */
export interface EntryPlan<T extends JsonObject> {
  readonly kind: string;
  /** Its members besides kind, node and seal. */
  readonly members: T;
  /** Who signs the chain from this entry on. */
  readonly signer: Signer;
  /** Adds what can only be known once the entry has its hash. */
  readonly complete?: (entry: JsonObject) => JsonObject;
  /** Work that belongs to the entry: written with it or not at all. */
  readonly work: (db: Parameters<Parameters<typeof appendEntry>[2]>[0], seal: Seal) => Promise<void>;
}

/** The chain of a node, as far as an entry needs it. */
export interface GrowingChain {
  current(store: Store): Promise<StoredChain>;
  /** Does a write that another process may have been faster with. */
  attempt<T>(write: () => Promise<T>): Promise<T>;
  /** The addition was written. */
  advance(added: ChainAddition, signer: Signer): void;
}

/** Appends an entry to the chain, signed at once. */
export async function append<T extends JsonObject>(store: Store, chain: GrowingChain, plan: EntryPlan<T>): Promise<void> {
  const { number, node, sequence: last, hash: previous } = await chain.current(store);
  const sequence = last + 1;
  const seal = { sequence, previous, key_id: plan.signer.keyId };
  const unsealed = { kind: plan.kind, node, ...plan.members, seal };
  const hash = entryHash(unsealed);
  const entry = { ...unsealed, seal: { ...seal, hash } };
  const document = canonicalJson(plan.complete?.(entry) ?? entry);
  const tip = { sequence, hash };
  const head = { sequence, document: signedHead({ node, at: Date.now(), from: sequence, tip }, plan.signer) };
  const added: ChainAddition = { chain: number, before: { sequence: last, hash: previous }, after: tip, heads: [head] };
  await chain.attempt(() => appendEntry(store, { ...added, kind: plan.kind, document }, (db) => plan.work(db, entry.seal)));
  chain.advance(added, plan.signer);
}

/** The time of an entry. */
export function entryTime(): string {
  return isoTime(Date.now());
}
