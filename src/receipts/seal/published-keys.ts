import { isoTime } from '../../base/clock.ts';
import type { SealKey } from '../../contract/receipts/chain.ts';
import { listChains, listSealKeys } from '../../store/receipts/chain.ts';
import type { Store } from '../../store/store.ts';

/** The public keys of every node, as verifiers take them. */
export async function publishedKeys(store: Store): Promise<SealKey[]> {
  const nodes = new Map((await listChains(store)).map(({ number, node }) => [number, node]));
  return (await listSealKeys(store)).map((key) => ({
    id: key.id,
    algorithm: 'Ed25519',
    public_key: key.publicKey,
    node: nodes.get(key.chain) ?? '',
    created_at: isoTime(key.createdAt),
    retired_at: key.retiredAt === null ? null : isoTime(key.retiredAt),
  }));
}
