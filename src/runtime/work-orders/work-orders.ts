import type { Adapter } from '../../adapters/adapter.ts';
import { canonicalText, sha256 } from '../../base/canonical-json.ts';
import { findCommand } from '../../base/find-command.ts';
import type { Json } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { WorkOrderRecord } from '../../contract/receipts/parts.ts';
import { newRunId, type RunId } from '../../contract/run-id.ts';
import { AgentMuxError } from '../../contract/runs/run-error.ts';
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
import { servingEngine } from '../runs/traffic.ts';
import { type SidecarProgram, sidecarAdapter, sidecarKnowledge } from '../sidecars/adapter.ts';
import { type Candidate, type Ranked, rankBackends } from './backend-choice.ts';
import { assertMembers } from './backend-members.ts';
import { type OrderBackend, type OrderedRun, optionsOf } from './order-options.ts';
import { engineManifest, engineProgram, hostProgram, SidecarGreetings, type SidecarSetting } from './programs.ts';
import { modelOf, vendorOf } from './vendor.ts';

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
  /** Throws what the start of a planned order would throw, such as a policy that its backend cannot hold. */
  readonly rehearse?: ((planned: PlannedOrder) => Promise<void>) | undefined;
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
    if (wish.backend === undefined) return await this.#best(order, wish);
    const record = { chosen_by: 'caller', why: 'the caller named it', candidates: [] } as const;
    const backend = this.#backend(wish.backend);
    const planned = await this.#planOn(order, wish, { backend, record: { ...record, candidates: [] } });
    await wish.rehearse?.(planned);
    if (backend.kind === 'adapter') assertInstalled(planned.gated, this.#options.env);
    return planned;
  }

  /**
   * The first backend by rank that takes the order. One that refuses it, such as an agent that cannot hold its policy, makes way for the next. Rules
   * do not stand in for a model, though: where a real one has refused, the caller hears why, and no simulated one answers.
   */
  async #best(order: WorkOrder, wish: OrderWish): Promise<PlannedOrder> {
    const ranked = await this.#ranked(order);
    const refusals = new Map<string, AbpError>();
    for (const { candidate, words } of ranked.filter(isUsable)) {
      if (candidate.simulated === true && refusals.size > 0) break;
      const record = { chosen_by: 'backplane', why: words, candidates: shown(ranked, refusals) } as const;
      try {
        const planned = await this.#planOn(order, wish, { backend: this.#backend(candidate.id), record });
        await wish.rehearse?.(planned);
        return planned;
      } catch (error) {
        if (!AbpError.is(error)) throw error;
        refusals.set(candidate.id, error);
      }
    }
    throw refusalOf(refusals) ?? noneFor(order, ranked);
  }

  async #planOn(order: WorkOrder, wish: OrderWish, { backend, record }: Chosen): Promise<PlannedOrder> {
    const runId = newRunId();
    const program = await this.#program(backend);
    const manifest = program?.manifest ?? this.#adapterManifest(backend);
    const { compatibility = 'best_effort' } = vendorOf(order);
    assertMet({ manifest, requirements: order.requirements, compatibility, backend: backend.id });
    assertMembers(order, backend);
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

  async #ranked(order: WorkOrder): Promise<readonly Ranked[]> {
    const candidates = [...this.#engineCandidates(order), ...this.#adapterCandidates(order), ...(await this.#sidecarCandidates())];
    return rankBackends(candidates, order.requirements);
  }

  #engineCandidates(order: WorkOrder): Candidate[] {
    const model = modelOf(order);
    return engines.map((engine) => {
      const inside = engine.transport !== undefined;
      // Who asks for its model by name wants no other.
      const simulated = inside && (model === null || engineOfModel(model)?.id !== engine.id);
      const price = model === null ? undefined : this.#options.price(engine.id, model);
      const obstacle = this.#options.engineObstacle(engine.id) ?? (inside ? replayObstacle(engine.id) : modelObstacle(engine.id, model));
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

  /** Why the model calls of an agent would reach nobody: the engine that they go to has no key, and the agent has no login either. */
  #withoutModel(adapter: Adapter, order: WorkOrder): string | undefined {
    const { engine: named } = vendorOf(order);
    const { agents } = this.#options;
    if (named !== undefined || adapter.traffic.needsNone === true) return undefined;
    const options = { agent: adapter.agent, prompt: order.task, ...(order.config.model !== null && { model: order.config.model }) };
    const engine = servingEngine(adapter, options, agents.knowledge.wanted(adapter, options));
    const obstacle = engine === undefined ? undefined : this.#options.engineObstacle(engine);
    if (engine !== undefined && obstacle === undefined) return undefined;
    // On macOS logins lie in the keychain, which nobody but the agent reads.
    if (process.platform === 'darwin' || agents.adapters.auth(adapter.agent).status !== 'unauthenticated') return undefined;
    return engine === undefined ? 'it is not logged in' : `it is not logged in, and of ${engine}, which would serve it: ${obstacle}`;
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

/** Otherwise the order would be taken, and its run fail at once. */
function assertInstalled({ adapter, options }: GatedRun, env: WorkOrdersOptions['env']): void {
  const { agent, displayName, cliCommand: command } = adapter;
  if (findCommand(command, { ...env, ...options.env }, process.platform) !== undefined) return;
  throw new AgentMuxError('AGENT_NOT_INSTALLED', `${displayName} is not installed: there is no command ${command}.`, { agent, command });
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

const isUsable = ({ candidate, coverage }: Ranked): boolean => coverage === 1 && candidate.obstacle === undefined;

/** The candidates that a receipt names. One that refused the order says why. */
function shown(ranked: readonly Ranked[], refusals: ReadonlyMap<string, AbpError>): WorkOrderRecord['candidates'] {
  return ranked.slice(0, SHOWN).map(({ candidate: { id }, words }) => {
    const refusal = refusals.get(id)?.message;
    return { backend: id, why: refusal === undefined ? words : `${words}; refused the order: ${refusal}` };
  });
}

/** The word of the best backend that refused an order. All of them say the same of an order that is wrong in itself. */
function refusalOf(refusals: ReadonlyMap<string, AbpError>): AbpError | undefined {
  const [first] = refusals;
  if (first === undefined) return undefined;
  const [backend, error] = first;
  if ([...refusals.values()].every(({ message }) => message === error.message)) return error;
  const others = refusals.size === 2 ? 'and another one refuses it, too' : `and ${refusals.size - 1} others refuse it, too`;
  const message = `The best backend for this order is ${backend}, which refuses it, ${others}: ${error.message}`;
  return new AbpError(error.code, message, { ...error.details, backend });
}

/** Nothing that is there meets the order: the error is that of the best one. */
function noneFor(order: WorkOrder, [best]: readonly Ranked[]): AbpError {
  if (best === undefined) return new AbpError('E007', 'There is no backend at all.', { backend_id: '', reason: 'none is configured' });
  const { candidate, coverage } = best;
  const { compatibility = 'best_effort' } = vendorOf(order);
  if (coverage < 1) assertMet({ manifest: candidate.manifest, requirements: order.requirements, compatibility, backend: candidate.id });
  const reason = `the best backend for this order is ${candidate.id}, and ${candidate.obstacle}`;
  return new AbpError('E007', `No backend can execute the order: ${reason}.`, { backend_id: candidate.id, reason });
}

interface Planned {
  readonly manifest: CapabilityManifest;
  readonly record: Chosen['record'];
  readonly ordered: OrderedRun;
}

function commissionOf(order: WorkOrder, { manifest, record, ordered }: Planned): Commission {
  // A work order is JSON by its schema.
  const text = canonicalText(order as unknown as Json);
  const digest = sha256(text);
  return {
    workOrder: { id: order.id, sha256: digest, lane: order.lane, ...record },
    negotiation: order.requirements.required.length === 0 ? null : negotiationAccount(manifest, order.requirements),
    fidelity: ordered.fidelity,
    request: { sha256: digest, bytes: Buffer.byteLength(text) },
  };
}
