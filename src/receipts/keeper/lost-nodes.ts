import { type Clock, systemClock } from '../../base/clock.ts';
import type { RunId } from '../../contract/run-id.ts';
import { beat, forgetWorker } from '../../store/agent-plane/workers.ts';
import { otherNodes, unfinishedOf } from '../../store/nodes.ts';
import { closeRunsOf } from '../../store/runs/runs.ts';
import type { PostgresStore } from '../../store/store.ts';
import { jsonText } from '../journal/fact-texts.ts';
import type { CloseTexts } from '../journal/texts.ts';
import type { Chain } from '../seal/chain.ts';
import { interruption } from './build.ts';
import { closeRuns, type Ended, endsWithProcess, runOf } from './interrupted.ts';
import { type PriceLists, withEstimate } from './interrupted-usage.ts';
import { type NodeTiming, NodeWatch } from './node-watch.ts';
import { type Opening, openingOf } from './stored.ts';

const PAGE = 500;

export interface LostNodesOptions {
  readonly store: PostgresStore;
  /** The chain of this node, which takes the receipts of runs that it closes for others. */
  readonly chain: Chain;
  readonly timing: NodeTiming;
  /** What calls are priced by; nothing, unless it is said. */
  readonly prices?: PriceLists;
  readonly clock?: Clock;
  /** Runs of a lost node were closed. */
  readonly onClosed: (node: string, runs: readonly RunId[]) => void;
}

/** Says that this node lives, and closes what lost nodes have left open. Nodes find each other in the database that they share. */
export class LostNodes {
  readonly #options: LostNodesOptions;
  readonly #node: string;
  readonly #clock: Clock;
  readonly #watch: NodeWatch;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #sweptAt = Number.NEGATIVE_INFINITY;
  #lost: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LostNodesOptions) {
    this.#options = options;
    this.#node = options.chain.stored.node;
    this.#clock = options.clock ?? systemClock;
    this.#watch = new NodeWatch(options.timing.lostMs);
  }

  /** From now on this node is known to live. By a timer: a long backlog of facts must not look like death. */
  async start(): Promise<void> {
    const { store, timing } = this.#options;
    await beat(store, this.#node);
    this.#timer = setInterval(() => {
      // When the database is away, the next look fails as well, and says so.
      beat(store, this.#node).catch(() => undefined);
    }, timing.beatMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await forgetWorker(this.#options.store, this.#node);
  }

  /** Looks for the others when it is time. Never during a batch: what it closes is sealed in the same chain. */
  async look(): Promise<void> {
    const { store, timing } = this.#options;
    const now = this.#clock.now();
    if (Math.abs(now - this.#lookedAt) < timing.beatMs) return;
    this.#lookedAt = now;
    const lost = this.#watch.look(await otherNodes(store, this.#node), now);
    const isNew = lost.some((node) => !this.#lost.includes(node));
    // Once more now and then: a node that was thought dead may have written a last batch since.
    if (!isNew && Math.abs(now - this.#sweptAt) < timing.lostMs / 2) return;
    if (lost.length > 0) await this.#close(lost, now);
    this.#lost = lost;
    this.#sweptAt = now;
  }

  /** A younger run than the silence shows that its node has come back, and is left to it. */
  async #close(nodes: readonly string[], now: number): Promise<void> {
    const { store, chain, timing, prices = {} } = this.#options;
    const startedUntil = now - timing.lostMs;
    for (let after: RunId | undefined, more = true; more; ) {
      const rows = await unfinishedOf(store, { nodes, startedUntil, after, limit: PAGE });
      const ended: Ended[] = [];
      for (const opening of rows.map(openingOf).filter(endsWithProcess)) {
        const close = await withEstimate(opening.open, lostRun(now, opening.origin.node, this.#node), 0, prices);
        ended.push({ opening, close });
      }
      // When another node was quicker with one of them, the page is read again.
      if (!(await closeRuns(store, chain, ended, now))) continue;
      this.#report(ended.map(({ opening }) => opening));
      after = rows.at(-1)?.runId;
      more = rows.length === PAGE;
    }
    await closeRunsOf(store, nodes, { by: this.#node, at: now, startedUntil });
  }

  #report(closed: readonly Opening[]): void {
    for (const [node, openings] of Map.groupBy(closed, ({ origin }) => origin.node)) {
      this.#options.onClosed(node, openings.map(runOf));
    }
  }
}

/** How a run ended whose node was lost. */
function lostRun(at: number, lost: string, closer: string): CloseTexts {
  const error = jsonText({
    code: 'internal',
    message: `the node ${lost} that served this run was lost; the node ${closer} closed the run`,
  });
  return interruption(at).with({ error });
}
