import { canonicalJson, sha256 } from '../../base/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Entrant } from '../../contract/receipts/parts.ts';
import { newRunId, type RunId } from '../../contract/run-id.ts';
import type { AgentEvent } from '../../contract/runs/event.ts';
import type { WorkOrder } from '../../contract/work-orders/work-order.ts';
import { serverPort } from '../../gateway/run-plane/server-port.ts';
import type { GatewayPort } from '../../runtime/gateway-port.ts';
import { CancelWatch } from '../../runtime/runs/books/cancel-watch.ts';
import { clientOf } from '../client.ts';
import { toFailure } from '../failure.ts';
import { orderAsked } from '../runs/asked.ts';
import { serverRun } from '../runs/server-run.ts';
import type { RunSource } from '../runs/source.ts';

/** A backend that takes part, by the name that the caller gave it. */
export interface Contender {
  readonly name: string;
  /** `adapter:claude`, `engine:sim`, `host:codex`, `sidecar:mine`. */
  readonly backend: string;
  /** Its model, where it is not that of the order. */
  readonly model?: string | undefined;
}

export interface RaceOptions {
  /** The server of the home; the one inside this process, where there is no other. */
  readonly server: { readonly url: string; readonly token: string };
  readonly order: WorkOrder;
  readonly contenders: readonly Contender[];
  readonly engine?: string | undefined;
  /** How many work at the same time. */
  readonly atOnce: number;
  /** Something that a person who waits wants to see. */
  readonly note: (contender: Contender, event: AgentEvent | string) => void;
}

/** How one contender finished, with the receipt of its run where it has one. */
export interface Finish {
  readonly contender: Contender;
  readonly entrant: Entrant;
  /** The next step after a refusal. */
  readonly hint?: string;
  readonly receipt?: JsonObject;
}

/** One order on several backends at once, each in a stage of its own. The runs are the server's; the race itself is a run of this process. */
export class Race {
  readonly runId: RunId = newRunId();
  readonly #options: RaceOptions;
  readonly #port: GatewayPort;
  readonly #live = new Set<RunSource>();
  #cancelled = false;

  constructor(options: RaceOptions) {
    this.#options = options;
    this.#port = serverPort(options.server);
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  /** Ends every run that is under way; those that have not begun do not begin. */
  cancel(): void {
    this.#cancelled = true;
    // One that has ended meanwhile need not be ended.
    for (const run of this.#live) run.cancel().catch(() => undefined);
  }

  async run(): Promise<readonly Finish[]> {
    const began = Date.now();
    await this.#open(began);
    const watch = CancelWatch.start(this.#port, this.runId, () => this.cancel());
    let finishes: readonly Finish[] = [];
    try {
      finishes = await this.#all();
    } finally {
      watch?.stop();
      await this.#close(began, finishes);
    }
    return finishes;
  }

  /** In the caller's order, at most so many at once. */
  async #all(): Promise<Finish[]> {
    const { contenders, atOnce } = this.#options;
    const finishes: Finish[] = [];
    const waiting = contenders.entries();
    const lane = async (): Promise<void> => {
      for (const [at, contender] of waiting) finishes[at] = await this.#one(contender);
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, contenders.length) }, lane));
    return finishes;
  }

  async #one(contender: Contender): Promise<Finish> {
    const { backend } = contender;
    const none = { backend, run_id: null, passed: null } as const;
    if (this.#cancelled) return { contender, entrant: { ...none, status: 'cancelled', reason: 'the race was cancelled before it began' } };
    try {
      const run = await this.#start(contender);
      return await this.#followed(contender, run);
    } catch (thrown) {
      const { error } = toFailure(thrown);
      this.#options.note(contender, `cannot take part: ${error.message}`);
      return { contender, entrant: { ...none, status: 'refused', reason: `${error.code}: ${error.message}` }, hint: error.hint };
    }
  }

  async #start({ backend, model }: Contender): Promise<RunSource> {
    const { server, order, engine } = this.#options;
    const own = model === undefined ? order : { ...order, config: { ...order.config, model } };
    return await serverRun({ url: server.url, key: server.token }, orderAsked(own, { backend, engine, parent: this.runId }));
  }

  async #followed(contender: Contender, run: RunSource): Promise<Finish> {
    const { note } = this.#options;
    this.#live.add(run);
    try {
      note(contender, `started as ${run.runId}`);
      if (this.#cancelled) await run.cancel();
      for await (const event of run.events) note(contender, event);
      const receipt = await this.#receipt(run.runId);
      return { contender, entrant: entrantOf(contender, receipt), receipt };
    } finally {
      this.#live.delete(run);
      await run.close();
    }
  }

  async #receipt(runId: string): Promise<JsonObject> {
    const { url, token } = this.#options.server;
    const found = await clientOf({ url }, token).call('GET', `/v1/receipts/${runId}?wait=30`);
    return isJsonObject(found) ? found : {};
  }

  async #open(at: number): Promise<void> {
    const { order, contenders, engine = null } = this.#options;
    // A work order is JSON by its schema.
    const text = canonicalJson(order as unknown as Json);
    const digest = sha256(text);
    const why = `a race of ${contenders.map(({ backend }) => backend).join(', ')}`;
    await this.#port.opened({
      run: this.runId,
      at,
      task: why.slice('a '.length),
      dialect: null,
      engine,
      backend: 'race',
      requestedModel: order.config.model,
      upstreamModel: null,
      compatibility: 'best_effort',
      fidelity: [],
      request: { sha256: digest, bytes: Buffer.byteLength(text) },
      enforcement: 'enforced',
      workOrder: { id: order.id, sha256: digest, lane: order.lane, chosen_by: 'caller', why, candidates: [] },
      tags: [],
    });
  }

  /** The entrants' own receipts hold their usage, so that nothing is counted twice. */
  async #close(began: number, finishes: readonly Finish[]): Promise<void> {
    const at = Date.now();
    const isWon = finishes.some(({ entrant }) => entrant.status === 'completed');
    const failed = this.#cancelled
      ? ({ status: 'cancelled', reason: 'aborted' } as const)
      : ({ status: 'failed', reason: 'failed' } as const);
    await this.#port.closed({
      run: this.runId,
      at,
      ...(isWon && !this.#cancelled ? { status: 'completed', reason: null } : failed),
      error: null,
      upstreamModel: null,
      eventCount: 0,
      usage: null,
      toolCalls: [],
      cost: null,
      lastByteMs: at - began,
      workspaceDelta: null,
      backendVersion: null,
      entrants: finishes.map(({ entrant }) => entrant),
    });
  }
}

const ENDS = { completed: 'completed', cancelled: 'cancelled' } as const;

function entrantOf({ backend }: Contender, receipt: JsonObject): Entrant {
  const { status, reason, error, check, run_id } = receipt;
  const ended = status === 'completed' || status === 'cancelled' ? ENDS[status] : 'failed';
  const words = isJsonObject(error) && typeof error.message === 'string' ? `${reason}: ${error.message}` : reason;
  return {
    backend,
    run_id: String(run_id),
    status: ended,
    passed: isJsonObject(check) ? check.passed === true : null,
    reason: typeof words === 'string' ? words : null,
  };
}
