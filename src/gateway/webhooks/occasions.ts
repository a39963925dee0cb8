import type { JsonObject } from '../../base/json.ts';
import type { CloseFact } from '../../receipts/journal/facts.ts';
import type { StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import { listReceipts } from '../../store/receipts/receipts.ts';
import { getSetting, setSetting } from '../../store/settings.ts';
import type { BreakerState } from '../../upstream/health.ts';
import type { Interaction } from '../api/interactions.ts';
import { deploymentStates } from '../deployment-states.ts';
import type { Gateway } from '../gateway.ts';
import { openQuestions } from '../inbox/open-questions.ts';
import { outcomeOf } from '../telemetry/call-counts.ts';
import { isCall, type RunWatcher, type SeenRun } from '../telemetry/run-watch.ts';
import type { WebhookEvent } from './webhook-config.ts';
import type { Webhooks } from './webhooks.ts';

/** How often breakers and open questions are looked at, where somebody wants to know. */
const LOOK_MS = 1000;
/** How much a killed process may have left untold, at most. */
const MARK_MS = 15_000;
/** Runs that began longer before the last mark are not looked for. */
const LONGEST_RUN_MS = 24 * 3_600_000;
const PAGE = 500;

/** Runs and turns that fail, as they end. */
export function failureWatcher(webhooks: Webhooks): RunWatcher {
  return {
    ended: (run, end) => {
      if (isCall(run) || outcomeOf(end) !== 'failed') return;
      tellFailure(webhooks, { ...run, reason: end.reason, error: end.error });
    },
  };
}

type Failure = Pick<SeenRun, 'run' | 'plane' | 'backend' | 'engine' | 'model' | 'keyId' | 'tags'> & Pick<CloseFact, 'reason' | 'error'>;

function tellFailure(webhooks: Webhooks, { run, plane, backend, engine, model, keyId, tags, reason, error }: Failure): void {
  const event = plane === 'run' ? 'run.failed' : 'turn.failed';
  const told = error === null ? null : { code: error.code, message: error.message };
  webhooks.tell({
    event,
    topic: `${event}:${run}`,
    members: { run_id: run, backend, engine, model, key_id: keyId, tags: [...tags], reason, error: told },
  });
}

/** Looks for what nobody tells: engines that went down, questions that wait, failures of a process that was killed. */
export class OccasionWatch {
  readonly #gateway: Gateway;
  readonly #webhooks: Webhooks;
  readonly #states = new Map<string, BreakerState>();
  /** Deployments that were found left alone. */
  readonly #down = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #timers: NodeJS.Timeout[] = [];
  #looking = false;
  #endListening: () => void = () => undefined;

  constructor(gateway: Gateway, webhooks: Webhooks) {
    this.#gateway = gateway;
    this.#webhooks = webhooks;
  }

  async open(): Promise<void> {
    const hears = (...events: WebhookEvent[]): boolean => events.some((event) => this.#webhooks.hears(event));
    if (hears('run.failed', 'turn.failed')) {
      await this.#catchUp();
      this.#every(MARK_MS, () => this.#mark());
    }
    if (hears('engine.down', 'engine.up', 'deployment.down', 'deployment.up', 'approval.requested'))
      this.#every(LOOK_MS, () => this.#look());
    if (!hears('approval.answered')) return;
    const { answered } = this.#gateway.browsers;
    this.#endListening = answered.listen(() => {
      const [last] = answered.items;
      if (last !== undefined) this.#tellAnswer(last);
    });
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#endListening();
  }

  #every(ms: number, work: () => Promise<void>): void {
    const timer = setInterval(() => {
      work().catch((error: unknown) => this.#gateway.log.warn({ error }, 'occasions for webhooks could not be looked for; tried again'));
    }, ms);
    this.#timers.push(timer.unref());
  }

  async #look(): Promise<void> {
    this.#lookAtEngines();
    this.#lookAtDeployments();
    if (this.#looking || !this.#webhooks.hears('approval.requested')) return;
    this.#looking = true;
    try {
      const open = await openQuestions(this.#gateway, { kind: 'token' });
      for (const question of open) if (!this.#asked.has(question.id)) this.#tellQuestion(question);
      this.#asked.clear();
      for (const { id } of open) this.#asked.add(id);
    } finally {
      this.#looking = false;
    }
  }

  #lookAtEngines(): void {
    for (const [engine, { health }] of this.#gateway.calls.deployments) {
      const found = health?.snapshot();
      if (found === undefined) continue;
      const before = this.#states.get(engine) ?? 'closed';
      this.#states.set(engine, found.state);
      const event =
        found.state === 'open' && before === 'closed'
          ? 'engine.down'
          : found.state === 'closed' && before !== 'closed'
            ? 'engine.up'
            : undefined;
      if (event === undefined) continue;
      const members = { engine, failures_in_a_row: found.failuresInARow, last_failure: found.lastFailure };
      this.#webhooks.tell({ event, topic: `${event}:${engine}:${this.#gateway.home.nodeId}:${Date.now()}`, members });
    }
  }

  /** A deployment that rests because of a limit does what it should, and nobody is told. */
  #lookAtDeployments(): void {
    for (const { engine, deployment, pause } of deploymentStates(this.#gateway.calls.deployments)) {
      const name = `${engine} ${deployment}`;
      const isDown = pause !== undefined && pause !== 'limited';
      if (isDown === this.#down.has(name)) continue;
      if (isDown) this.#down.add(name);
      else this.#down.delete(name);
      const event = isDown ? 'deployment.down' : 'deployment.up';
      const members = { engine, deployment, ...(isDown ? { reason: pause } : {}) };
      this.#webhooks.tell({ event, topic: `${event}:${name}:${this.#gateway.home.nodeId}:${Date.now()}`, members });
    }
  }

  #tellQuestion(question: Interaction): void {
    this.#webhooks.tell({
      event: 'approval.requested',
      topic: `approval.requested:${placeOf(question)}`,
      members: questionMembers(question),
    });
  }

  #tellAnswer({ answered, ...question }: Interaction): void {
    if (answered === undefined) return;
    const { decision, by, via, at } = answered;
    const members = { ...questionMembers(question), decision, answered_by: by, answered_via: via, answered_at: at };
    this.#webhooks.tell({ event: 'approval.answered', topic: `approval.answered:${placeOf(question)}`, members });
  }

  get #markName(): string {
    return `webhooks.failures_until.${this.#gateway.home.nodeId}`;
  }

  async #mark(): Promise<void> {
    await setSetting(this.#gateway.store, this.#markName, Date.now() - MARK_MS);
  }

  /** Tells of failures that the last process of this home left untold, those by its own end among them. */
  async #catchUp(): Promise<void> {
    const since = await getSetting(this.#gateway.store, this.#markName);
    if (typeof since === 'number') for (const plane of ['run', 'agent']) await this.#catchUpOn(plane, since);
    await this.#mark();
  }

  async #catchUpOn(plane: string, since: number): Promise<void> {
    const filter = { plane, status: 'failed', since: since - LONGEST_RUN_MS, limit: PAGE };
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await listReceipts(this.#gateway.store, { ...filter, cursor });
      for (const receipt of page.items) if ((receipt.completedAt ?? 0) >= since) this.#tellReceipt(receipt);
      cursor = page.next_cursor;
    }
  }

  #tellReceipt({ runId: run, document, engine, model, keyId, tags, mode, plane }: StoredReceipt): void {
    if ((plane !== 'run' && plane !== 'agent') || isCall({ plane, mode: mode === 'passthrough' || mode === 'mapped' ? mode : null }))
      return;
    const { reason, error, backend } = document as unknown as Failed; // a sealed document of ours
    if (reason === 'refused') return;
    tellFailure(this.#webhooks, { run, plane, backend: backend.id, engine, model, keyId, tags, reason, error });
  }
}

/** The members of a receipt that a notice tells. */
interface Failed extends Pick<Failure, 'reason' | 'error'> {
  readonly backend: { readonly id: string };
}

function placeOf({ id, run_id: run, session_id: session }: Interaction): string {
  return `${run ?? session}:${id}`;
}

/** A webhook hears which tool an agent asks about and where to answer. The words of the conversation stay here: its receiver may be anybody. */
function questionMembers({ id, kind, run_id, session_id, agent, tool, asked_at, answer }: Interaction): JsonObject {
  return { interaction: id, kind, run_id, session_id, agent, tool, asked_at, answer: { ...answer } };
}
