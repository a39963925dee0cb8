import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRunId, type RunId } from '../../src/contract/run-id.ts';
import { openHome } from '../../src/home/home.ts';
import { type ExportOptions, exportLines } from '../../src/receipts/export.ts';
import { factLine } from '../../src/receipts/journal/fact-line.ts';
import type { CloseFact, Fact, OpenFact } from '../../src/receipts/journal/facts.ts';
import { Drain } from '../../src/receipts/keeper/drain.ts';
import { type Chain, openChain } from '../../src/receipts/seal/chain.ts';
import { openStore } from '../../src/store/database.ts';
import { chainOf } from '../../src/store/receipts/chain.ts';
import type { Store } from '../../src/store/store.ts';
import { closeFact, openFact } from '../support/facts.ts';

export const ORIGIN = { node: 'node_a', version: '1.2.3' };

/** A process that seals: its journal, and what drains it. */
interface SealingProcess {
  /** Seals so many runs in one batch. */
  seal(runs: number, open?: Partial<OpenFact>, close?: Partial<CloseFact>): Promise<RunId[]>;
  /** Seals these runs in one batch. */
  sealRuns(runs: readonly RunId[], open?: Partial<OpenFact>, close?: Partial<CloseFact>): Promise<void>;
  begin(runs: number): Promise<RunId[]>;
  end(run: RunId): Promise<void>;
  /** Drains what is left in the journal. */
  drain(): Promise<RunId[]>;
}

/** A home whose receipts are sealed without a server. */
export interface SealedHome extends SealingProcess {
  readonly store: Store;
  readonly chain: Chain;
  readonly keysFolder: string;
  /** Another process on the same chain, with a journal of its own. */
  sibling(chain: Chain): SealingProcess;
  keyFiles(): string[];
  /** The export as lines. */
  lines(options?: ExportOptions): Promise<string[]>;
  close(): Promise<void>;
}

function sealing(store: Store, chain: Chain, folder: string): SealingProcess {
  mkdirSync(folder);
  const drain = new Drain({ store, folder, origin: ORIGIN, chain });
  let segments = 0;
  const write = async (facts: readonly Fact[]): Promise<void> => {
    segments += 1;
    // A segment is named after its process, hence unlike those of any other.
    const name = `${folder.split('/').at(-1)}-${String(segments).padStart(4, '0')}.facts`;
    writeFileSync(join(folder, name), facts.map((fact) => `${factLine(fact)}\n`).join(''));
    await drain.all();
  };
  const runsOf = (count: number): RunId[] => Array.from({ length: count }, () => newRunId());
  const sealRuns: SealingProcess['sealRuns'] = (runs, open = {}, close = {}) =>
    write(runs.flatMap((run) => [openFact({ ...open, run }), closeFact({ ...close, run })]));
  return {
    seal: async (count, open, close) => {
      const runs = runsOf(count);
      await sealRuns(runs, open, close);
      return runs;
    },
    sealRuns,
    begin: async (count) => {
      const runs = runsOf(count);
      await write(runs.map((run) => openFact({ run })));
      return runs;
    },
    end: (run) => write([closeFact({ run })]),
    drain: () => drain.all(),
  };
}

export async function sealedHome(databaseUrl?: string): Promise<SealedHome> {
  const parent = mkdtempSync(join(tmpdir(), 'abp-sealed-'));
  const keysFolder = join(parent, 'keys');
  const store = await openStore({ url: databaseUrl, home: openHome({ path: join(parent, 'home') }) });
  const chain = await openChain(store, ORIGIN.node, keysFolder);
  return {
    ...sealing(store, chain, join(parent, 'first')),
    store,
    chain,
    keysFolder,
    sibling: (other) => sealing(store, other, join(parent, 'second')),
    keyFiles: () => readdirSync(keysFolder).filter((name) => name.endsWith('.pem')),
    lines: async (options) => (await Array.fromAsync(exportLines(store, await chainOf(store, ORIGIN.node), options))).flat(),
    close: async () => {
      await store.close();
      rmSync(parent, { recursive: true, force: true });
    },
  };
}
