import { parseJsonObject } from '../../base/json.ts';
import { packageVersion } from '../../base/own-files.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import { knownPrices } from '../../engines/index.ts';
import { type Config, loadConfig } from '../../gateway/config.ts';
import { bodyKeeping, bucketOf } from '../../gateway/recording.ts';
import { runReport } from '../../gateway/report/run-report.ts';
import { pageOfReceipts, pageOfRows } from '../../gateway/rows/row-page.ts';
import type { Home } from '../../home/home.ts';
import { BodyKeeper } from '../../receipts/bodies/keeper.ts';
import { exportLines } from '../../receipts/export.ts';
import { Drain, discardDrained } from '../../receipts/keeper/drain.ts';
import { closeInterrupted } from '../../receipts/keeper/interrupted.ts';
import { removeReceipts } from '../../receipts/remove.ts';
import { type Chain, openChain } from '../../receipts/seal/chain.ts';
import { replaceLostKey, rotateKey } from '../../receipts/seal/rotate.ts';
import { protectSealKeys, publishedKeys, sealKeysFolder } from '../../receipts/seal/seal-keys.ts';
import { verifyHome } from '../../receipts/verify/verify-home.ts';
import { verifyRun } from '../../receipts/verify/verify-stored.ts';
import { openStore } from '../../store/database.ts';
import { chainOf, findHead } from '../../store/receipts/chain.ts';
import { getReceipt } from '../../store/receipts/receipts.ts';
import { BodyShelf } from '../../store/recordings/body-shelf.ts';
import type { Store } from '../../store/store.ts';
import { warnOfOtherDatabase } from '../backup/database-in-use.ts';
import type { Context } from '../command.ts';
import { withConfig } from '../config.ts';
import type { ReceiptSource } from './source.ts';

/** Receipts of a home that no server serves, read from its database. */
export async function homeSource({ io, output, configPath }: Context, home: Home): Promise<ReceiptSource> {
  const { config } = await withConfig(() =>
    loadConfig({ env: io.env, homePath: home.path, ...(configPath !== undefined && { path: configPath }) }),
  );
  warnOfOtherDatabase({ io, output }, home.path, config.database.url);
  const store = await openStore({ home, url: config.database.url });
  const keysFolder = sealKeysFolder(home.path);
  protectSealKeys(keysFolder, config.receipts.key_secret);
  return {
    get: async (run) => {
      const row = await getReceipt(store, run);
      if (row === undefined) throw noReceipt(run);
      return row.document;
    },
    report: async (run) => {
      const row = await getReceipt(store, run);
      if (row === undefined) throw noReceipt(run);
      const shelf = new BodyShelf(home.bodiesFolder, undefined, bucketOf(config, home.nodeId));
      try {
        return await runReport({ store, shelf, homePath: home.path }, row);
      } finally {
        shelf.close();
      }
    },
    list: async (options) => {
      const { items, ...page } = await pageOfReceipts(store, options);
      return { ...page, items: items.map(({ receipt }) => receipt.document) };
    },
    rows: (options) => pageOfRows(store, options),
    export: (filter, range) => bytesOf(store, home.nodeId, { filter, ...range }),
    verify: (range) => verifyHome(store, { node: home.nodeId, keysFolder }, range),
    verifyRun: (run) => verifyRun(store, run),
    keys: () => publishedKeys(store),
    head: async () => {
      const head = await findHead(store, (await chainOf(store, home.nodeId)).number);
      if (head === undefined) throw new AbpError('not_found', 'Nothing has been sealed yet.');
      return parseJsonObject(head.document) ?? {};
    },
    rotate: (lost) =>
      alone(home, async () =>
        lost
          ? await replaceLostKey(store, home.nodeId, keysFolder)
          : await rotateKey(store, await openChain(store, home.nodeId, keysFolder), keysFolder),
      ),
    remove: (order) =>
      alone(home, async () => {
        const chain = await openChain(store, home.nodeId, keysFolder);
        const bodies = bodiesOf(store, home, config);
        await finishJournal(store, home, chain, bodies);
        const removed = await removeReceipts(store, chain, order, { bodies });
        if (removed.length > 0) await discardDrained(store, home.journalFolder);
        return removed.length;
      }),
    close: () => store.close(),
  };
}

function noReceipt(run: RunId): AbpError {
  return new AbpError('not_found', `There is no receipt for ${run}.`, { run_id: run });
}

/** A killed server's journal holds receipts too; without this look the next start would bring back those that were removed. */
async function finishJournal(store: Store, home: Home, chain: Chain, bodies: BodyKeeper): Promise<void> {
  const origin = { node: home.nodeId, version: packageVersion() };
  await new Drain({ store, folder: home.journalFolder, origin, chain, bodies }).all();
  await bodies.settlePast();
  await closeInterrupted(store, chain, origin, { now: Date.now(), bodies, prices: knownPrices() });
}

function bodiesOf(store: Store, home: Home, config: Config): BodyKeeper {
  const onFault = (message: string): never => {
    throw new AbpError('internal', message);
  };
  return new BodyKeeper({ store, home, keeping: bodyKeeping(config), onFault });
}

/** A command that adds to the chain must be the only one that does: the lock of the server keeps a server from starting meanwhile. */
async function alone<T>(home: Home, work: () => Promise<T>): Promise<T> {
  const lock = home.lockServer();
  try {
    return await work();
  } finally {
    lock.release();
  }
}

async function* bytesOf(store: Store, node: string, options: Parameters<typeof exportLines>[2]): AsyncGenerator<Uint8Array> {
  for await (const lines of exportLines(store, await chainOf(store, node), options)) {
    if (lines.length > 0) yield Buffer.from(`${lines.join('\n')}\n`);
  }
}
