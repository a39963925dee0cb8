import { hasPassed } from '../../base/clock.ts';
import type { RunId } from '../../contract/run-id.ts';
import { stubsUpTo } from '../../store/receipts/receipt-removal.ts';
import { endErasures, erasuresFor } from '../../store/recordings/erasures.ts';
import type { Store } from '../../store/store.ts';
import type { BodyKeeper } from '../bodies/keeper.ts';
import type { RemovalOrder } from '../remove.ts';
import type { Chain } from '../seal/chain.ts';
import type { Followers } from '../usage/followers.ts';
import type { KeeperOrder, KeeperReport, KeeperTask, TaskResults } from './keeper-protocol.ts';
import type { TableParts } from './table-parts.ts';

const DAY_MS = 24 * 3600 * 1000;
const RETENTION_EVERY_MS = 3600 * 1000;
const RETENTION_TURN_MS = 500;
const ASKED_EVERY_MS = 1000;

interface TaskSurroundings {
  readonly store: Store;
  readonly chain: Chain;
  readonly bodies: Pick<BodyKeeper, 'erase'>;
  readonly followers: Pick<Followers, 'catchUp'>;
  readonly keysFolder: string;
  readonly parts: Pick<TableParts, 'dropEmptied'>;
  readonly retentionDays: number | undefined;
  readonly deletionDays: number | undefined;
  readonly report: (message: KeeperReport) => void;
}

/** Tasks of the sealer besides sealing, one after the other and never during a batch. */
export class KeeperTasks {
  readonly #surroundings: TaskSurroundings;
  readonly #waiting: Extract<KeeperOrder, { kind: 'task' }>[] = [];
  #retainedAt = 0;
  #behind = false;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** Up to these places the chain has stubs alone, which need not be looked at again. */
  readonly #stubsUpTo: Record<RemovalOrder['status'], number> = { archived: 0, deleted: 0 };

  constructor(surroundings: TaskSurroundings) {
    this.#surroundings = surroundings;
  }

  add(order: Extract<KeeperOrder, { kind: 'task' }>): void {
    this.#waiting.push(order);
  }

  /** Does what is waiting, and what is due. */
  async run(): Promise<void> {
    const { report } = this.#surroundings;
    for (let order = this.#waiting.shift(); order !== undefined; order = this.#waiting.shift()) {
      try {
        report({ kind: 'done', id: order.id, result: await this.#do(order.task) });
      } catch (error) {
        report({ kind: 'refused', id: order.id, message: error instanceof Error ? error.message : String(error) });
      }
    }
    await this.#tellAsked();
    await this.#retain();
  }

  async #do(task: KeeperTask): Promise<TaskResults[keyof TaskResults]> {
    const { store, chain, keysFolder } = this.#surroundings;
    if (task.kind === 'erase-bodies') return await this.#erase(task.runs);
    if (task.kind === 'remove') return await this.#remove(task);
    // Loaded when they are needed, which is seldom.
    if (task.kind === 'audit') return await (await import('../audit/seal-audit.ts')).sealAudit(store, chain);
    const { rotateKey } = await import('../seal/rotate.ts');
    return await rotateKey(store, chain, keysFolder);
  }

  async #remove(order: RemovalOrder): Promise<readonly RunId[]> {
    const { removeReceipts } = await import('../remove.ts');
    const { store, chain, bodies, followers, report } = this.#surroundings;
    const runs = await removeReceipts(store, chain, order, { bodies, followers });
    if (runs.length > 0) report({ kind: 'removed', runs });
    return runs;
  }

  /** Tells of bodies of this node that were to be erased on another one, also while this one was away. The journal is closed first, elsewhere. */
  async #tellAsked(): Promise<void> {
    const { store, chain, report } = this.#surroundings;
    const now = performance.now();
    if (store.kind === 'sqlite' || now - this.#askedAt < ASKED_EVERY_MS) return;
    this.#askedAt = now;
    const runs = await erasuresFor(store, chain.stored.node);
    if (runs.length > 0) report({ kind: 'erase-asked', runs });
  }

  async #erase(runs: readonly RunId[]): Promise<number> {
    const { store, bodies } = this.#surroundings;
    const erased = await bodies.erase(runs);
    if (store.kind === 'postgres') await endErasures(store, runs);
    return erased;
  }

  /** Whether what is too old was not all removed in one turn. */
  get isBehind(): boolean {
    return this.#behind;
  }

  /** Archives and deletes what is older than receipts are kept, once an hour, and for a moment at a time: facts wait meanwhile. */
  async #retain(): Promise<void> {
    const { retentionDays, deletionDays, parts } = this.#surroundings;
    const now = Date.now();
    if (!this.#behind && !hasPassed(RETENTION_EVERY_MS, this.#retainedAt, now)) return;
    const until = performance.now() + RETENTION_TURN_MS;
    // The oldest first: what is deleted need not be archived before.
    const done =
      (await this.#removeOlder('deleted', now, deletionDays, until)) && (await this.#removeOlder('archived', now, retentionDays, until));
    this.#behind = !done;
    if (!done) return;
    this.#retainedAt = now;
    const kept = Math.min(retentionDays ?? Number.POSITIVE_INFINITY, deletionDays ?? Number.POSITIVE_INFINITY);
    if (Number.isFinite(kept)) await parts.dropEmptied(now - kept * DAY_MS);
  }

  /** Whether all of it was done. */
  async #removeOlder(status: RemovalOrder['status'], now: number, days: number | undefined, until: number): Promise<boolean> {
    if (days === undefined) return true;
    const { removeSome } = await import('../remove.ts');
    const { store, chain, bodies, followers, report } = this.#surroundings;
    const order: RemovalOrder = { status, reason: 'retention', endedBefore: now - days * DAY_MS };
    const { runs, more } = await removeSome(store, chain, order, { bodies, followers, after: this.#stubsUpTo[status], until });
    if (runs.length > 0) report({ kind: 'removed', runs });
    if (more) return false;
    this.#stubsUpTo[status] = await stubsUpTo(store, {
      chain: chain.number,
      archivedToo: status === 'deleted',
      after: this.#stubsUpTo[status],
    });
    return true;
  }
}
