import { setTimeout as sleep } from 'node:timers/promises';
import { type JsonObject, jsonOf } from '../../base/json.ts';
import { identityOf } from '../../base/process-table.ts';
import type { CallOwner } from '../../calls/call.ts';
import { newRunId, parseNamedRunId, type RunId } from '../../contract/run-id.ts';
import { Snapshots } from '../../contract/runs/accumulator.ts';
import type { AgentEvent } from '../../contract/runs/event.ts';
import { runExists } from '../../contract/runs/run-error.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import type { RunResult } from '../../contract/runs/run-result.ts';
import { deleteRunEvents, readRunEvents, type StoredRunEvent } from '../../store/runs/run-events.ts';
import { createRun, endRun, getRun, setRunProcess } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import type { GatewayPort } from '../gateway-port.ts';
import type { RunTies } from './deps.ts';
import { keepableOptions, keepableText, withoutSecrets, withoutSecretsInTurns, withoutWords } from './events/redaction.ts';
import { RunLog } from './events/run-log.ts';
import type { GatedRun } from './gated-run.ts';
import { assertPolicyHolds, hasRules } from './ground/ground.ts';
import type { RunCallbacks, RunHandle } from './handle.ts';
import { assertBudgetHolds } from './prepare.ts';
import type { RunStarter } from './run-starter.ts';
import { admissionAsk } from './traffic.ts';

export interface RunServiceOptions {
  readonly store: Store;
  readonly starter: RunStarter;
  /** The gateway on behalf of the caller who asks for a run. */
  port(owner: CallOwner): GatewayPort;
  readonly node: string;
  /** A run was accepted: from now on somebody may ask for its receipt. */
  accepted(run: RunId, keyId: string | null): void;
  /** The id of a caller is free again and its admission given back: its run was not started after all. */
  release(run: RunId): void;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
  readonly onFault: (error: unknown) => void;
}

/** Who asks for a run, and what is kept of it. */
export interface RunAsk {
  readonly owner: CallOwner;
  /** Whether what was said is kept after the end. */
  readonly keepWords: boolean;
  readonly callbacks?: RunCallbacks;
  readonly onChanges?: RunTies['onChanges'];
  /** An id that is new and belongs to this run; without it the options name one, or one is made. */
  readonly runId?: RunId;
  /** Added by a work order. */
  readonly ties?: Pick<RunTies, 'commission' | 'agents'>;
}

/** An event and its number in the run. */
export interface NumberedEvent {
  readonly sequence: number;
  readonly event: AgentEvent;
}

interface LiveRun {
  readonly handle: RunHandle;
  readonly log: RunLog;
  /** The run that it is part of. */
  readonly parent: RunId | null;
  /** The result as it is stored; null where it could not be. */
  readonly settled: Promise<JsonObject | null>;
}

/** How long events that are not to be kept wait for readers that are behind. */
const READERS_MS = 5000;
const LOOK_MS = 50;
/** How often the database is asked what a run on another node has said. */
const ELSEWHERE_MS = 250;

const CANCELLED: ReadonlySet<RunResult['exitReason']> = new Set(['aborted', 'interrupted']);

/** Runs of coding agents that outlive the request that started them: their rows, their events and their control. */
export class RunService {
  readonly #options: RunServiceOptions;
  readonly #live = new Map<RunId, LiveRun>();
  readonly #readers = new Map<RunId, number>();

  constructor(options: RunServiceOptions) {
    this.#options = options;
  }

  /** Throws what a start with these options would throw before anything is spawned for it. */
  async check(options: RunOptions): Promise<void> {
    await this.#options.starter.checkInstalled(options);
  }

  /** Checks, writes the row, then starts; what is refused leaves no row. */
  async start(options: RunOptions, ask: RunAsk): Promise<RunId> {
    return await this.startGated(await this.#options.starter.checkInstalled({ ...options, ...ask.callbacks }), ask);
  }

  /** As `start`, for options that have passed the gates: those of a work order, whose backend need not be a coding agent. */
  async startGated(gated: GatedRun, ask: RunAsk): Promise<RunId> {
    const { starter, store, node, onFault } = this.#options;
    const { adapter, options } = gated;
    const port = this.#options.port(ask.owner);
    await this.#assertHolds(gated, port, ask);
    const runId = ask.runId ?? (await this.#idOf(options, port));
    const admitted = await port.admit(admissionAsk(runId, adapter, options)).catch((error: unknown) => {
      this.#options.release(runId);
      throw error;
    });
    const { onApprovalRequest: _approves, onInputRequired: _answers, hooks: _hooks, ...plain } = options;
    const kept = withoutSecrets(keepableOptions(plain), this.#options.redact);
    const row = { runId, agent: adapter.agent, node, keyId: ask.owner.keyId, options: kept, createdAt: Date.now() };
    await createRun(store, row).catch(async (error: unknown) => {
      this.#options.release(runId);
      // Another node may have taken the same id in the same moment.
      throw options.runId !== undefined && (await getRun(store, runId)) !== undefined ? runExists(runId) : error;
    });
    this.#options.accepted(runId, ask.owner.keyId);
    const log = new RunLog(store, runId, this.#options);
    const ties: RunTies = {
      gateway: async () => port,
      admitted,
      onEvent: (event) => {
        log.push(event);
        port.heard?.(runId, event);
      },
      ...(ask.onChanges === undefined ? {} : { onChanges: ask.onChanges }),
      ...ask.ties,
      onProcess: (pid) => void setRunProcess(store, runId, { pid, started: identityOf(pid)?.started ?? null }).catch(onFault),
    };
    const handle = starter.start(gated, ties, runId);
    const settled = handle.result().then((result) => this.#settle(result, { log, kept, keepWords: ask.keepWords, runId }));
    this.#live.set(runId, { handle, log, parent: ask.owner.parent, settled });
    return runId;
  }

  /** Throws what `startGated` would throw, and starts nothing. The reader of work orders asks so before it takes a backend. */
  async rehearse(gated: GatedRun, runId: RunId, ask: Pick<RunAsk, 'owner' | 'ties'>): Promise<void> {
    const port = this.#options.port(ask.owner);
    await this.#assertHolds(gated, port, ask);
    try {
      await port.admit(admissionAsk(runId, gated.adapter, gated.options));
    } finally {
      this.#options.release(runId);
    }
    // Last, as rules hold whether or not there is a key: an engine without one, and one that needs the name of a model.
    await this.#options.starter.trafficOf(gated, port, ask.ties?.agents);
  }

  async #assertHolds(gated: GatedRun, port: GatewayPort, { ties }: Pick<RunAsk, 'ties'>): Promise<void> {
    const { starter } = this.#options;
    const { adapter, cwd, options } = gated;
    assertBudgetHolds(options, port);
    if (!hasRules(options, port)) return;
    const traffic = await starter.trafficOf(gated, port, ties?.agents);
    await assertPolicyHolds({ adapter, options, cwd, home: starter.homePath, port, traffic });
  }

  /** The caller's own id, taken before anything is written: the same start may be sent again and runs once. */
  async #idOf({ runId }: RunOptions, port: GatewayPort): Promise<RunId> {
    const named = runId === undefined ? undefined : parseNamedRunId(runId);
    if (named === undefined) return newRunId();
    await port.claim(named);
    return named;
  }

  /** The run, while it is under way in this process. Not awaited by accident: a handle is a promise of its result. */
  live(runId: RunId): { readonly handle: RunHandle } | undefined {
    return this.#live.get(runId);
  }

  /** Ends the runs that are part of one that nobody drives any more. */
  endPartsOf(parent: RunId): void {
    for (const { handle, parent: own } of this.#live.values()) if (own === parent) void handle.abort();
  }

  /** Every run that is under way in this process. */
  underWay(): RunHandle[] {
    return [...this.#live.values()].map(({ handle }) => handle);
  }

  /** Events after a number: those that are stored, then those that come, until the run has ended or the caller leaves. */
  async *events(runId: RunId, after: number, signal: AbortSignal): AsyncGenerator<NumberedEvent[]> {
    this.#readers.set(runId, (this.#readers.get(runId) ?? 0) + 1);
    try {
      const snapshots = new Snapshots();
      for await (const page of this.#pages(runId, signal)) {
        const fresh = page.filter(({ sequence, event }) => {
          if (sequence <= after) snapshots.skip(event);
          return sequence > after;
        });
        if (fresh.length > 0) yield fresh.map(({ sequence, event }) => ({ sequence, event: told(event, snapshots) }));
      }
    } finally {
      const left = (this.#readers.get(runId) ?? 1) - 1;
      if (left === 0) this.#readers.delete(runId);
      else this.#readers.set(runId, left);
    }
  }

  /** Always from the first event on: a reader who comes late is told what it has missed of a text under way. */
  async *#pages(runId: RunId, signal: AbortSignal): AsyncGenerator<readonly StoredRunEvent[]> {
    const gone = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const log = this.#live.get(runId)?.log;
    let position = 0;
    while (!signal.aborted) {
      // Asked for before the look, so that nothing falls between the two.
      const changed = log?.changed();
      const over = log === undefined ? !(await this.#isElsewhere(runId)) : log.ended;
      const page = log?.after(position) ?? (await readRunEvents(this.#options.store, runId, position));
      position = page.at(-1)?.sequence ?? position;
      if (page.length > 0) yield page;
      else if (over) return;
      else await Promise.race([changed ?? sleep(ELSEWHERE_MS), gone]);
    }
  }

  /** Whether another node drives the run; what it says comes by way of the database. */
  async #isElsewhere(runId: RunId): Promise<boolean> {
    const run = await getRun(this.#options.store, runId);
    return run !== undefined && run.status === 'running' && run.node !== this.#options.node;
  }

  /** The result of a run that has ended. */
  async result(runId: RunId): Promise<JsonObject | null> {
    const live = this.#live.get(runId);
    if (live !== undefined) return await live.settled;
    return (await getRun(this.#options.store, runId))?.result ?? null;
  }

  /** Resolves when no run is under way. */
  async idle(): Promise<void> {
    while (this.#live.size > 0) await Promise.all([...this.#live.values()].map(({ settled }) => settled));
  }

  /** Ends every run and waits until its receipt is written. */
  async close(): Promise<void> {
    const live = [...this.#live.values()];
    for (const { handle } of live) void handle.abort();
    await Promise.all(live.map(({ settled }) => settled));
  }

  async #settle(
    result: RunResult,
    { log, kept, keepWords, runId }: { log: RunLog; kept: JsonObject; keepWords: boolean; runId: RunId },
  ): Promise<JsonObject | null> {
    const { store, redact, onFault } = this.#options;
    try {
      await log.end();
      const ended = CANCELLED.has(result.exitReason) ? 'cancelled' : 'failed';
      const status = result.exitReason === 'completed' ? 'completed' : ended;
      // A result is JSON by its schema.
      const shown = await withoutSecretsInTurns(
        jsonOf({ ...result, events: [], text: keepWords ? keepableText(result.text) : '' }),
        redact,
      );
      await endRun(store, runId, { status, result: shown, at: Date.now(), ...(keepWords ? {} : { options: withoutWords(kept) }) });
      if (!keepWords) await this.#forget(runId);
      return shown;
    } catch (error) {
      onFault(error);
      return null;
    } finally {
      this.#live.delete(runId);
    }
  }

  async #forget(runId: RunId): Promise<void> {
    const deadline = performance.now() + READERS_MS;
    while (this.#readers.has(runId) && performance.now() < deadline) await sleep(LOOK_MS);
    await deleteRunEvents(this.#options.store, runId);
  }
}

function told(event: JsonObject, snapshots: Snapshots): AgentEvent {
  return { ...event, ...snapshots.next(event) } as unknown as AgentEvent; // stored as an event
}
