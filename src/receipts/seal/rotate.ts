import { canonicalJson } from '../../base/canonical-json.ts';
import type { JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { changeKey, findChain, listSealKeys, type StoredKey } from '../../store/receipts/chain.ts';
import type { Store } from '../../store/store.ts';
import { Chain } from './chain.ts';
import { append, entryTime } from './entry.ts';
import { createSigner, forgetSigner, readSigner, type Signer } from './seal-keys.ts';

/** Which key came for which. */
export interface Rotation {
  readonly oldKey: string;
  readonly newKey: string;
}

/** Seals with a new key from now on. Both keys sign the entry that says so; the old private key is destroyed afterwards. */
export async function rotateKey(store: Store, chain: Chain, folder: string): Promise<Rotation> {
  const { keyId } = await chain.current(store);
  return await rotate(store, { chain, folder, old: await oldKeyOf(store, keyId), signer: chain.signer });
}

/**
 * Goes on with a new key although the private half of the old one is gone. The entry lacks the old key's signature, and a reader who
 * verifies the chain is told so.
 */
export async function replaceLostKey(store: Store, node: string, folder: string): Promise<Rotation> {
  const stored = await findChain(store, node);
  if (stored === undefined) throw new AbpError('conflict', 'nothing has been sealed on this home yet; there is no key to replace');
  if (readSigner(folder, stored.keyId) !== undefined) {
    throw new AbpError('conflict', `the key ${stored.keyId} is not lost; leave --lost out, so that it signs for the new one`);
  }
  const signer = createSigner(folder);
  const chain = new Chain(stored, signer, folder);
  return await rotate(store, { chain, folder, old: await oldKeyOf(store, stored.keyId), signer: undefined, next: signer });
}

interface RotationPlan {
  readonly chain: Chain;
  readonly folder: string;
  readonly old: StoredKey;
  /** Signs for the old key; undefined when it is lost. */
  readonly signer: Signer | undefined;
  readonly next?: Signer;
}

async function rotate(store: Store, { chain, folder, old, signer, next = createSigner(folder) }: RotationPlan): Promise<Rotation> {
  const newKey = { id: next.keyId, public_key: next.publicKey };
  await append(store, chain, {
    kind: 'rotation',
    members: { at: entryTime(), old_key: { id: old.id, public_key: old.publicKey }, new_key: newKey },
    signer: next,
    complete: (entry) => ({ ...entry, signatures: signatures(entry, signer, next) }),
    work: (db) => changeKey(db, old.id, { id: next.keyId, chain: chain.number, publicKey: next.publicKey, createdAt: Date.now() }),
  });
  forgetSigner(folder, old.id);
  return { oldKey: old.id, newKey: next.keyId };
}

function signatures(entry: JsonObject, old: Signer | undefined, next: Signer): JsonObject {
  const message = canonicalJson(entry);
  return { old: old?.sign(message) ?? null, new: next.sign(message) };
}

async function oldKeyOf(store: Store, id: string): Promise<StoredKey> {
  const key = (await listSealKeys(store)).find((one) => one.id === id);
  if (key === undefined) throw new AbpError('internal', `the public half of the key ${id} is gone from the database`);
  return key;
}
