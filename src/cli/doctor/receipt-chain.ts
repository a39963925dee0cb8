import type { Config } from '../../gateway/config.ts';
import { openHome } from '../../home/home.ts';
import { protectSealKeys, sealKeysFolder } from '../../receipts/seal/seal-keys.ts';
import { tailProblems } from '../../receipts/verify/verify-home.ts';
import { openStore } from '../../store/database.ts';
import { findChain } from '../../store/receipts/chain.ts';
import { entriesOfKind } from '../../store/receipts/chain-lines.ts';

/** Faults in the chain of a home, as far as a quick look shows it: its end, and cuts that the node has noticed itself. */
export async function chainFaults(path: string, { database, receipts }: Pick<Config, 'database' | 'receipts'>): Promise<string[]> {
  const home = openHome({ path });
  protectSealKeys(sealKeysFolder(path), receipts.key_secret);
  const store = await openStore({ home, url: database.url });
  try {
    const problems = await tailProblems(store, { node: home.nodeId, keysFolder: sealKeysFolder(path) });
    const chain = await findChain(store, home.nodeId);
    const cuts = chain === undefined ? [] : await entriesOfKind(store, chain.number, 'cut');
    const noticed =
      cuts.length === 0
        ? []
        : [`${cuts.length === 1 ? 'an entry' : `${cuts.length} entries`} of the chain say that others were taken away or put in`];
    return [...problems.map(({ message }) => message), ...noticed];
  } finally {
    await store.close();
  }
}
