import { FairShare } from '../../base/bounded/fair-share.ts';
import { hasPassed } from '../../base/clock.ts';
import { endInTurn } from '../../base/end-all.ts';
import { UNKEYED } from '../../calls/call.ts';
import { claimTurn, keysOfTurns, releaseTurns, type StoredTurn, unfinishedTurns } from '../../store/agent-plane/turns.ts';
import { beat, forgetWorker, orphanedTurns } from '../../store/agent-plane/workers.ts';
import { TURNS_CHANNEL, tell } from '../../store/databases/notices.ts';
import type { PostgresStore } from '../../store/store.ts';
import type { SessionParts } from '../parts.ts';
import { TurnRun } from './turn-run.ts';
import { settleTurns } from './turn-settlement.ts';
import { type BegunTurn, begunWork, claimedWork, type TurnWork } from './turn-work.ts';

const SWEEP_MS = 2000;
/** With the sweep this keeps a killed worker's turns from standing still for 15 s. */
const SILENT_MS = 10_000;
/** How often receipts are looked for whose turns are over, and how long the process that ended a turn has to write its receipt. */
const SETTLE_EVERY_MS = 60_000;
const SETTLE_AFTER_MS = 30_000;

export interface WorkerOptions {
  /** Turns at the same time; 0 leaves all of them to other processes. */
  readonly slots: number;
  /** How long turns may go on after the stop of the process was asked for. */
  readonly graceMs: number;
  /** How often a worker says that it lives and looks for turns that nobody works on. */
  readonly sweepMs?: number | undefined;
  /** A worker that has been silent for so long is taken for dead. */
  readonly silentMs?: number | undefined;
}

/** A turn and whose it is. */
interface Place {
  readonly turnId: string;
  readonly keyId: string | null;
}

/** Works on turns in this process. The rows of turns say who works on what; this only holds the work itself. */
export class Worker {
  readonly #parts: SessionParts;
  readonly #options: WorkerOptions;
  readonly #share: FairShare;
  /** By turn. A turn that is being prepared has no run yet. */
  readonly #runs = new Map<string, TurnRun | undefined>();
  /** By session, for hints. */
  readonly #sessions = new Map<string, TurnRun>();
  /** Turns whose work broke off here. */
  readonly #brokenOff = new Set<string>();
  /** A turn was left to others, or its work broke off here: look again when there is room. */
  #hungry = false;
  #sweeping = false;
  #settledAt = 0;
  #stopping = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: SessionParts, options: WorkerOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#share = new FairShare(options.slots);
  }

  /** Who owns a turn of this caller that begins now: this worker where it has room for one more of the caller's. */
  ownerOfNext(keyId: string | null): string | null {
    if (this.#hasRoomFor(keyId)) return this.#parts.workerId;
    this.#hungry = true;
    return null;
  }

  get busy(): number {
    return this.#runs.size;
  }

  /** Takes up what earlier processes left, and looks for more from time to time. */
  async start(): Promise<void> {
    if (this.#options.slots === 0) return;
    await this.#beat();
    await this.#sweep();
    // On SQLite nobody else can have a receipt on its way.
    await this.#settle(Date.now() - (this.#parts.store.kind === 'sqlite' ? 0 : SETTLE_AFTER_MS));
    this.#timer = setInterval(() => void this.#round(), this.#options.sweepMs ?? SWEEP_MS);
    this.#timer.unref();
  }

  /** Works on a turn that this process has begun and owns. */
  begin(turn: BegunTurn): void {
    this.#work(turn, () => begunWork(this.#parts, turn));
  }

  /** A turn is free; the first worker that claims it gets it. */
  async offer(turnId: string): Promise<void> {
    if (!this.#hasRoom) this.#hungry = true;
    else await this.#claimAll([{ id: turnId }]);
  }

  /** Something may have been appended to the session. */
  hint(sessionId: string): void {
    this.#sessions.get(sessionId)?.hint();
  }

  hintAll(): void {
    for (const run of this.#sessions.values()) run.hint();
  }

  /** Lets turns go on for a while, then gives back those that have not ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#timer);
    const { store, workerId } = this.#parts;
    const deadline = performance.now() + this.#options.graceMs;
    while (this.#runs.size > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    await endInTurn(
      async () => {
        if (this.#runs.size === 0) return;
        const released = await releaseTurns(store, workerId, Date.now());
        await tell(store, store.db, TURNS_CHANNEL, released);
      },
      () => {
        for (const run of this.#runs.values()) run?.drop();
      },
      async () => {
        if (store.kind === 'postgres') await forgetWorker(store, workerId);
      },
    );
  }

  get #hasRoom(): boolean {
    return !this.#stopping && this.#runs.size < this.#options.slots;
  }

  /** One caller cannot have all places: a turn of somebody else would wait until theirs have ended. */
  #hasRoomFor(keyId: string | null): boolean {
    return this.#hasRoom && this.#share.refusal(keyId ?? UNKEYED) === undefined;
  }

  async #round(): Promise<void> {
    try {
      await this.#beat();
      await this.#sweep();
      if (hasPassed(SETTLE_EVERY_MS, this.#settledAt, Date.now())) await this.#settle(Date.now() - SETTLE_AFTER_MS);
    } catch (error) {
      this.#parts.log.warn({ error }, 'turns cannot be looked for; the database does not answer');
    }
  }

  async #beat(): Promise<void> {
    if (this.#parts.store.kind === 'postgres') await beat(this.#parts.store, this.#parts.workerId);
  }

  async #settle(before: number): Promise<void> {
    this.#settledAt = Date.now();
    const settled = await settleTurns(this.#parts, before);
    if (settled > 0) this.#parts.log.info({ settled }, 'turns that ended without a receipt got theirs');
  }

  async #sweep(): Promise<void> {
    if (this.#sweeping || this.#stopping) return;
    this.#sweeping = true;
    this.#hungry = false;
    try {
      await this.#claimAll(await this.#abandoned());
    } finally {
      this.#sweeping = false;
    }
  }

  /** Turns that nobody works on. A turn of this very worker that has no run here broke off. */
  async #abandoned(): Promise<readonly Pick<StoredTurn, 'id' | 'epoch'>[]> {
    const { store } = this.#parts;
    if (store.kind === 'sqlite') {
      // Nobody else works on this database, so every turn without a run here is free.
      this.#brokenOff.clear();
      return await unfinishedTurns(store);
    }
    const room = this.#options.slots - this.#runs.size;
    const orphans = room > 0 ? await orphanedTurns(store, this.#options.silentMs ?? SILENT_MS, room) : [];
    return [...orphans, ...(await this.#ownBroken(store))];
  }

  async #ownBroken(store: PostgresStore): Promise<readonly StoredTurn[]> {
    if (this.#brokenOff.size === 0) return [];
    const own = (await unfinishedTurns(store)).filter(({ id, owner }) => owner === this.#parts.workerId && this.#brokenOff.has(id));
    this.#brokenOff.clear();
    return own;
  }

  /** Claims those that there is room for, in their order; the others wait for a place of their caller. */
  async #claimAll(turns: readonly { readonly id: string; readonly epoch?: number }[]): Promise<void> {
    const free = turns.filter(({ id }) => !this.#runs.has(id));
    if (free.length === 0 || !this.#hasRoom) return;
    const keys = await keysOfTurns(
      this.#parts.store,
      free.map(({ id }) => id),
    );
    for (const { id, epoch } of free) {
      const keyId = keys.get(id) ?? null;
      if (!this.#hasRoomFor(keyId)) this.#hungry = true;
      else if (!this.#runs.has(id)) await this.#claim({ turnId: id, keyId }, epoch);
    }
  }

  async #claim(turn: Place, epoch?: number): Promise<void> {
    const { turnId } = turn;
    const claimed = await claimTurn(this.#parts.store, { turnId, epoch, owner: this.#parts.workerId, at: Date.now() });
    if (claimed === undefined) return;
    if (epoch !== undefined && claimed.epoch > 1) this.#parts.log.info({ turn: turnId, epoch: claimed.epoch }, 'a turn was taken over');
    this.#work(turn, () => claimedWork(this.#parts, claimed));
  }

  #work({ turnId, keyId }: Place, prepare: () => Promise<TurnWork | undefined>): void {
    this.#runs.set(turnId, undefined);
    this.#share.take(keyId ?? UNKEYED);
    this.#through(turnId, prepare)
      .catch((error: unknown) => {
        this.#parts.log.error({ error, turn: turnId }, 'the work on a turn broke off; it is taken up again');
        this.#brokenOff.add(turnId);
        this.#hungry = true;
      })
      .finally(() => {
        this.#runs.delete(turnId);
        this.#share.release(keyId ?? UNKEYED);
        // A broken turn waits for the next round: what broke it may still be broken.
        if (this.#hungry && this.#brokenOff.size === 0) void this.#round();
      });
  }

  async #through(turnId: string, prepare: () => Promise<TurnWork | undefined>): Promise<void> {
    const work = await prepare();
    if (work === undefined || this.#stopping) return;
    const run = new TurnRun(this.#parts, work);
    this.#runs.set(turnId, run);
    this.#sessions.set(work.sessionId, run);
    try {
      run.start();
      await run.done;
    } finally {
      if (this.#sessions.get(work.sessionId) === run) this.#sessions.delete(work.sessionId);
    }
  }
}
