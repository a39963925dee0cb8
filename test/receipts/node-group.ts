import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRunId, type RunId } from '../../src/contract/run-id.ts';
import { factLine } from '../../src/receipts/journal/fact-line.ts';
import type { CloseFact, Fact, OpenFact } from '../../src/receipts/journal/facts.ts';
import { Drain } from '../../src/receipts/keeper/drain.ts';
import { closeInterrupted } from '../../src/receipts/keeper/interrupted.ts';
import { LostNodes } from '../../src/receipts/keeper/lost-nodes.ts';
import { type Chain, openChain } from '../../src/receipts/seal/chain.ts';
import { beat } from '../../src/store/agent-plane/workers.ts';
import { openPostgres } from '../../src/store/databases/postgres.ts';
import type { PostgresStore } from '../../src/store/store.ts';
import { closeFact, openFact } from '../support/facts.ts';

export const TIMING = { beatMs: 10_000, lostMs: 120_000 };

/** A node without its process: what its keeper does, step by step. */
export interface TestNode {
  readonly id: string;
  readonly chain: Chain;
  /** Runs that this node closed for others, with the node that was lost. */
  readonly closed: readonly (readonly [string, RunId])[];
  /** Says that it lives. */
  beat(): Promise<void>;
  /** Looks for the others. */
  look(): Promise<void>;
  /** Writes facts to the journal without draining it. */
  journal(facts: readonly Fact[]): void;
  begin(open?: Partial<OpenFact>): Promise<RunId>;
  end(run: RunId, close?: Partial<CloseFact>): Promise<void>;
  drain(): Promise<readonly RunId[]>;
  /** What is done at the start of a process: the number of runs that were closed as interrupted. */
  restart(): Promise<number>;
}

/** Nodes that share a database and a clock. */
export interface NodeGroup {
  readonly store: PostgresStore;
  /** What the clock of all nodes shows; tests move it. */
  readonly clock: { time: number; now(): number };
  /** Begins a node, or goes on with it after its process has ended. */
  node(id: string): Promise<TestNode>;
  /** Lets so much time pass, in steps that no watcher takes for a gap. */
  pass(ms: number, alive: readonly TestNode[]): Promise<void>;
  close(): Promise<void>;
}

export async function nodeGroup(databaseUrl: string): Promise<NodeGroup> {
  const parent = mkdtempSync(join(tmpdir(), 'abp-nodes-'));
  // Nodes that share a database; none of the keys in it is looked at here.
  const keySecret = { value: 'x'.repeat(32), shared: true, isNew: false, taken: () => undefined };
  const store = { ...(await openPostgres(databaseUrl)), keySecret };
  const clock = { time: 1_800_000_000_000, now: () => clock.time };
  let segments = 0;

  async function node(id: string): Promise<TestNode> {
    const folder = join(parent, id);
    mkdirSync(folder, { recursive: true });
    const chain = await openChain(store, id, join(parent, `${id}-keys`));
    const origin = { node: id, version: '1' };
    let drain = new Drain({ store, folder, origin, chain });
    const closed: (readonly [string, RunId])[] = [];
    const lost = new LostNodes({
      store,
      chain,
      timing: TIMING,
      clock,
      onClosed: (other, runs) => runs.forEach((run) => void closed.push([other, run])),
    });
    const journal = (facts: readonly Fact[]): void => {
      segments += 1;
      const name = `${String(segments).padStart(6, '0')}.facts`;
      writeFileSync(join(folder, name), facts.map((fact) => `${factLine(fact)}\n`).join(''));
    };
    return {
      id,
      chain,
      closed,
      beat: () => beat(store, id),
      look: () => lost.look(),
      journal,
      begin: async (open = {}) => {
        const run = newRunId();
        journal([openFact({ run, at: clock.time, ...open })]);
        await drain.all();
        return run;
      },
      end: async (run, close = {}) => {
        journal([closeFact({ run, at: clock.time, ...close })]);
        await drain.all();
      },
      drain: () => drain.all(),
      restart: async () => {
        await beat(store, id);
        drain = new Drain({ store, folder, origin, chain });
        await drain.all();
        return await closeInterrupted(store, chain, origin, { now: clock.time });
      },
    };
  }

  return {
    store,
    clock,
    node,
    pass: async (ms, alive) => {
      for (let left = ms; left > 0; left -= TIMING.beatMs) {
        clock.time += Math.min(left, TIMING.beatMs);
        for (const one of alive) await one.beat();
        for (const one of alive) await one.look();
      }
    },
    close: async () => {
      await store.close();
      rmSync(parent, { recursive: true, force: true });
    },
  };
}
