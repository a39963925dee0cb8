import type { Adapter } from '../../adapters/adapter.ts';
import { canonicalJson, sha256 } from '../../base/canonical-json.ts';
import { findCommand } from '../../base/find-command.ts';
import type { Json } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { WorkOrderRecord } from '../../contract/receipts/parts.ts';
import { newRunId, type RunId } from '../../contract/run-id.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import type { CapabilityManifest } from '../../contract/support.ts';
import type { WorkOrder } from '../../contract/work-orders/work-order.ts';
import { chooseEngine, engineOfModel, engines } from '../../engines/index.ts';
import { assertMet } from '../../negotiation/negotiate.ts';
import { negotiationAccount } from '../../negotiation/report.ts';
import { adapterManifest } from '../adapter-manifest.ts';
import { resolveBackend } from '../backends.ts';
import type { CodingAgents } from '../coding-agents/coding-agents.ts';
import { HOSTS } from '../hosts.ts';
import type { Commission } from '../runs/deps.ts';
import { type GatedRun, passGatesInstalled } from '../runs/gated-run.ts';
import { type SidecarProgram, sidecarAdapter, sidecarKnowledge } from '../sidecars/adapter.ts';
import { type Candidate, type Ranked, rankBackends } from './backend-choice.ts';
import { hostProgram } from './host-programs.ts';
import { type OrderBackend, type OrderedRun, optionsOf } from './order-options.ts';
import { engineManifest, engineProgram, SidecarGreetings, type SidecarSetting } from './programs.ts';
import { vendorOf } from './vendor.ts';

export interface WorkOrdersOptions {
  readonly agents: CodingAgents;
  readonly sidecars: Readonly<Record<string, SidecarSetting>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Why an engine cannot serve a run now: it has no key, or its breaker is open. */
  engineObstacle(id: string): string | undefined;
  /** Dollars for a million tokens read and written. */
  price(engine: string, model: string): number | undefined;
  /** Takes secrets out of a text. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** Wishes of the caller beside the order. */
export interface OrderWish {
  /** Who shall execute it; without it the best one is chosen. */
  readonly backend?: string | undefined;
  readonly engine?: string | undefined;
  /** Where a relative root begins. */
  readonly base: string;
}

/** An order that can be started. */
export interface PlannedOrder {
  readonly backend: string;
  readonly runId: RunId;
  readonly gated: GatedRun;
  /** Everything that the order asks of programs on this machine: the options of the run, and those that a host makes of the same order. */
  readonly asks: readonly RunOptions[];
  readonly ties: { readonly commission: Commission; readonly agents?: ReturnType<typeof sidecarKnowledge> };
}

/** A sidecar as lists of backends show it. */
export interface SidecarBackend {
  readonly id: string;
  readonly name: string;
  readonly kind: 'sidecar';
  readonly manifest: CapabilityManifest;
  /** Why it cannot be used now. */
  readonly obstacle?: string;
}

interface Chosen {
  readonly backend: OrderBackend;
  readonly record: Pick<WorkOrderRecord, 'chosen_by' | 'why' | 'candidates'>;
}

/** Reads work orders: who executes them, whether that one can, and what it is told. Everything that can be refused is refused here. */
export class WorkOrders {
  readonly #options: WorkOrdersOptions;
  readonly #greetings: SidecarGreetings;

  constructor(options: WorkOrdersOptions) {
    this.#options = options;
    this.#greetings = new SidecarGreetings(options.env, options.redact);
  }

  async plan(written: WorkOrder, wish: OrderWish): Promise<PlannedOrder> {
    const order = wish.engine === undefined ? written : withEngine(written, wish.engine);
    const { backend, record } = wish.backend === undefined ? await this.#choose(order) : this.#named(wish.backend);
    const runId = newRunId();
    const program = await this.#program(backend);
    const manifest = program?.manifest ?? this.#adapterManifest(backend);
    const { compatibility = 'best_effort' } = vendorOf(order);
    assertMet({ manifest, requirements: order.requirements, compatibility, backend: backend.id });
    assertMode(order, backend);
    const ordered = optionsOf(order, backend, wish.base);
    const engine = ordered.options.engine ?? this.#engineOf(backend);
    const options = engine === undefined ? ordered.options : { ...ordered.options, engine };
    const commission = commissionOf(order, { manifest, record, ordered });
    const asks = [options, ...hostOptions(order, backend, wish.base)];
    if (program === undefined) {
      const adapter = this.#options.agents.adapters.get(options.agent);
      const place = { agents: this.#options.agents.knowledge, env: this.#options.env };
      return { backend: backend.id, runId, asks, gated: await passGatesInstalled(adapter, options, place), ties: { commission } };
    }
    const agents = sidecarKnowledge(program);
    const adapter = sidecarAdapter({ program, runId, order, compatibility, engine });
    const gated = await passGatesInstalled(adapter, options, { agents, env: this.#options.env });
    return { backend: backend.id, runId, asks, gated, ties: { commission, agents } };
  }

  /** The sidecars of the configuration with what they said of themselves. `greets`: one that nobody has greeted yet is started for it. */
  async sidecars(greets: boolean): Promise<readonly SidecarBackend[]> {
    return await Promise.all(
      Object.entries(this.#options.sidecars).map(async ([name, setting]) => {
        const bare = { id: `sidecar:${name}`, name, kind: 'sidecar', manifest: {} } as const;
        try {
          const program = await (greets ? this.#greetings.program(name, setting) : this.#greetings.known(name, setting));
          return program === undefined ? bare : { ...bare, name: program.name, manifest: program.manifest };
        } catch (error) {
          if (!AbpError.is(error)) throw error;
          return { ...bare, obstacle: error.message };
        }
      }),
    );
  }

  #named(name: string): Chosen {
    const record = { chosen_by: 'caller', why: 'the caller named it', candidates: [] } as const;
    return { backend: this.#backend(name), record: { ...record, candidates: [] } };
  }

  #backend(name: string): OrderBackend {
    const [kind, rest = ''] = name.split(/:(.*)/s);
    if (kind === 'sidecar') {
      if (Object.hasOwn(this.#options.sidecars, rest)) return { id: name, kind };
      const known = Object.keys(this.#options.sidecars);
      const hint = known.length === 0 ? 'The configuration names none; add [sidecars.<name>].' : `Known are ${known.join(', ')}.`;
      throw new AbpError('not_found', `There is no sidecar "${rest}". ${hint}`, { backend: name });
    }
    // An engine may be told its dialect: engine:sim:claude.
    if (kind === 'engine' && rest.includes(':') && chooseEngine(rest) !== undefined) return { id: name, kind };
    const { id, kind: found } = resolveBackend(name);
    return { id, kind: found };
  }

  async #program({ id, kind }: OrderBackend): Promise<SidecarProgram | undefined> {
    const [, name = ''] = id.split(/:(.*)/s);
    switch (kind) {
      case 'adapter':
        return undefined;
      case 'engine': {
        const choice = chooseEngine(name);
        if (choice === undefined) throw new AbpError('not_found', `There is no engine "${name}".`, { backend: id });
        return engineProgram(choice.engine, name);
      }
      case 'host':
        return hostProgram(name, this.#options.agents);
      case 'sidecar': {
        const setting = this.#options.sidecars[name];
        if (setting === undefined) throw new AbpError('not_found', `There is no sidecar "${name}".`, { backend: id });
        return await this.#greetings.program(name, setting);
      }
    }
  }

  #engineOf({ id, kind }: OrderBackend): string | undefined {
    const [, name = ''] = id.split(/:(.*)/s);
    if (kind === 'sidecar') return this.#options.sidecars[name]?.engine;
    return kind === 'host' ? hostProgram(name, this.#options.agents).engine : undefined;
  }

  #adapterManifest({ id }: OrderBackend): CapabilityManifest {
    return resolveBackend(id).manifest;
  }

  async #choose(order: WorkOrder): Promise<Chosen> {
    const candidates = [...this.#engineCandidates(order), ...this.#adapterCandidates(order), ...(await this.#sidecarCandidates())];
    const ranked = rankBackends(candidates, order.requirements);
    const [best] = ranked;
    if (best === undefined) throw new AbpError('E007', 'There is no backend at all.', { backend_id: '', reason: 'none is configured' });
    assertBest(best, order);
    const shown = ranked.slice(0, SHOWN).map(({ candidate, words }) => ({ backend: candidate.id, why: words }));
    return { backend: this.#backend(best.candidate.id), record: { chosen_by: 'backplane', why: best.words, candidates: shown } };
  }

  #engineCandidates({ config: { model } }: WorkOrder): Candidate[] {
    return engines.map((engine) => {
      const simulated = engine.transport !== undefined;
      const price = model === null ? undefined : this.#options.price(engine.id, model);
      const obstacle = this.#options.engineObstacle(engine.id) ?? (simulated ? replayObstacle(engine.id) : modelObstacle(engine.id, model));
      return {
        id: `engine:${engine.id}`,
        manifest: engineManifest(engine),
        simulated,
        ...(obstacle !== undefined && { obstacle }),
        ...(price !== undefined && { usdPerMillion: price }),
      };
    });
  }

  /** An agent whose program is not on the PATH cannot be used; which version it has is found out when it is chosen. */
  #adapterCandidates(order: WorkOrder): Candidate[] {
    const { agents, env } = this.#options;
    return agents.adapters.list().map((adapter) => {
      const found = findCommand(adapter.cliCommand, env, process.platform);
      const obstacle = found === undefined ? 'it is not installed' : this.#withoutModel(adapter, order);
      const rows = adapter.models.find(({ modelId }) => modelId === adapter.defaultModelId);
      const { inputPricePerMillion: read, outputPricePerMillion: written } = rows ?? {};
      return {
        id: `adapter:${adapter.agent}`,
        manifest: adapterManifest(adapter),
        ...(obstacle !== undefined && { obstacle }),
        ...(read !== undefined && written !== undefined && { usdPerMillion: read + written }),
      };
    });
  }

  /** Why the model calls of an agent would reach nobody: no engine that it speaks to has a key, and it has no login either. */
  #withoutModel({ agent, traffic }: Adapter, order: WorkOrder): string | undefined {
    if (vendorOf(order).engine !== undefined || traffic.needsNone === true) return undefined;
    const spoken = engines.filter(
      ({ transport, dialects }) => transport === undefined && dialects.some((one) => traffic.dialects.includes(one)),
    );
    if (spoken.some(({ id }) => this.#options.engineObstacle(id) === undefined)) return undefined;
    // On macOS logins lie in the keychain, which nobody but the agent reads.
    if (process.platform === 'darwin' || this.#options.agents.adapters.auth(agent).status !== 'unauthenticated') return undefined;
    return 'it is not logged in, and no engine that it speaks to has a key here';
  }

  async #sidecarCandidates(): Promise<Candidate[]> {
    return await Promise.all(
      Object.entries(this.#options.sidecars).map(async ([name, setting]) => {
        const program = await this.#greetings.program(name, setting).catch((error: unknown) => String(error));
        return typeof program === 'string'
          ? { id: `sidecar:${name}`, manifest: {}, obstacle: program }
          : { id: program.backend, manifest: program.manifest };
      }),
    );
  }
}

/** The agent of a host gets the options that its own namespace of the order names. */
function hostOptions(order: WorkOrder, { id }: OrderBackend, base: string): RunOptions[] {
  const agent = HOSTS.find((host) => host.id === id)?.agent;
  return agent === undefined ? [] : [optionsOf(order, { id: `adapter:${agent}`, kind: 'adapter' }, base).options];
}

/** Candidates that a receipt names. */
const SHOWN = 8;

function withEngine(order: WorkOrder, engine: string): WorkOrder {
  const own = vendorOf(order);
  return own.engine === engine
    ? order
    : { ...order, config: { ...order.config, vendor: { ...order.config.vendor, 'abp.engine': engine } } };
}

function modelObstacle(engine: string, model: string | null): string | undefined {
  if (model === null) return 'config.model names no model';
  const owner = engineOfModel(model);
  return owner === undefined || owner.id === engine ? undefined : `it does not serve ${model}`;
}

/** Recordings answer only what was recorded. */
function replayObstacle(engine: string): string | undefined {
  return engines.find(({ id }) => id === engine)?.fileVariable === undefined ? undefined : 'it serves recordings';
}

/** Nothing that is there meets the order: the error is that of the best one. */
function assertBest({ candidate, coverage }: Ranked, order: WorkOrder): void {
  const { compatibility = 'best_effort' } = vendorOf(order);
  if (coverage < 1) assertMet({ manifest: candidate.manifest, requirements: order.requirements, compatibility, backend: candidate.id });
  if (candidate.obstacle === undefined) return;
  const reason = `the best backend for this order is ${candidate.id}, and ${candidate.obstacle}`;
  throw new AbpError('E007', `No backend can execute the order: ${reason}.`, { backend_id: candidate.id, reason });
}

/** A request of a vendor is passed on by a model or a host; an adapter and a bare sidecar have their own. */
function assertMode(order: WorkOrder, { id, kind }: OrderBackend): void {
  const { mode, request } = vendorOf(order);
  if (mode !== 'passthrough') return;
  const path = 'config.vendor.abp.mode';
  if (kind === 'adapter') {
    throw new AbpError('invalid_request', `work order is not valid: ${path}: ${id} takes tasks, no requests of a vendor`, { path });
  }
  if (request === undefined) {
    throw new AbpError('invalid_request', 'work order is not valid: config.vendor.abp.request: is needed for passthrough', { path });
  }
}

interface Planned {
  readonly manifest: CapabilityManifest;
  readonly record: Chosen['record'];
  readonly ordered: OrderedRun;
}

function commissionOf(order: WorkOrder, { manifest, record, ordered }: Planned): Commission {
  // A work order is JSON by its schema.
  const text = canonicalJson(order as unknown as Json);
  const digest = sha256(text);
  return {
    workOrder: { id: order.id, sha256: digest, lane: order.lane, ...record },
    negotiation: order.requirements.required.length === 0 ? null : negotiationAccount(manifest, order.requirements),
    fidelity: ordered.fidelity,
    request: { sha256: digest, bytes: Buffer.byteLength(text) },
  };
}
