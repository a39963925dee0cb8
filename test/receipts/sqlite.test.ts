import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { removeReceipts } from '../../src/receipts/remove.ts';
import { chainSuite } from './chain-suite.ts';
import { sealedHome } from './sealed-home.ts';

chainSuite('SQLite', async () => undefined);

it('a removal says when somebody reads the log of the database, which holds what was removed, and the next one empties it', async () => {
  const home = await sealedHome();
  if (home.store.kind !== 'sqlite') expect.fail();
  const { sqlite } = home.store;
  const order = { status: 'deleted', reason: 'asked', key: 'key_gone' } as const;
  await home.seal(3, { keyId: 'key_gone' });
  sqlite.exec('pragma busy_timeout = 1');
  const reader = new DatabaseSync(String(sqlite.location()));
  reader.exec('begin; select count(*) from receipts');
  await expect(removeReceipts(home.store, home.chain, order)).rejects.toThrow(
    '3 receipts were removed, but the log of the database still holds what they said',
  );
  reader.close();
  expect(await removeReceipts(home.store, home.chain, order)).toEqual([]);
  await home.close();
});
