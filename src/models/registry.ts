import type { AgentName, ModelCapabilities, ModelValidationResult } from '../contract/runs/coding-agent.ts';
import { AgentMuxError } from '../contract/runs/run-error.ts';
import { estimateCost, type ModelUsage, usageCost } from './usage-cost.ts';
import { validateModel } from './validate.ts';

/** The models each agent can be asked for. */
export interface ModelRegistry {
  /** Every known model of an agent: bundled ones at once, those of the agent's own list after `refresh`. */
  models(agent: AgentName): readonly ModelCapabilities[];
  /** The same, each with whether it is the one the agent takes when none is named. */
  catalog(agent: AgentName): readonly (ModelCapabilities & { readonly isDefault: boolean })[];
  /** One model, by its id or its alias. */
  model(agent: AgentName, modelId: string): ModelCapabilities | null;
  defaultModel(agent: AgentName): ModelCapabilities | null;
  validate(agent: AgentName, modelId: string): ModelValidationResult;
  /** US dollars for input and output at list price; 0 where there is none. */
  estimateCost(agent: AgentName, modelId: string, inputTokens: number, outputTokens: number): number;
  /** US dollars with cache, thinking, price tiers and searches; undefined where there is no price. */
  costOf(agent: AgentName, modelId: string, usage: ModelUsage): number | undefined;
  /** Asks the agent for its models. Held in memory only. */
  refresh(agent: AgentName): Promise<void>;
  refreshAll(): Promise<void>;
  /** Takes in the models of an agent that was registered later. */
  add(source: ModelSource): void;
  /** When the models of the agent were last learnt; the date of the bundled data before any refresh. */
  lastUpdated(agent: AgentName): Date;
}

/** The models that come with an agent. */
interface ModelSource {
  readonly agent: AgentName;
  readonly models: readonly ModelCapabilities[];
  readonly defaultModelId: string | null;
  /** ISO 8601 date of the bundled data. */
  readonly modelsAsOf: string;
}

export interface RegistryOptions {
  readonly sources: readonly ModelSource[];
  /** Asks the agent, or the engine it talks to, for its models. */
  discover(agent: AgentName): Promise<readonly ModelCapabilities[]>;
  now?(): Date;
}

interface Shelf extends ModelSource {
  readonly updated: Date;
}

export function createModelRegistry({ sources, discover, now = () => new Date() }: RegistryOptions): ModelRegistry {
  const shelves = new Map<AgentName, Shelf>(sources.map((source) => [source.agent, { ...source, updated: new Date(source.modelsAsOf) }]));

  function shelf(agent: AgentName): Shelf {
    const found = shelves.get(agent);
    if (found === undefined) throw new AgentMuxError('AGENT_NOT_FOUND', `There is no agent '${agent}'`, { agent });
    return found;
  }

  function model(agent: AgentName, modelId: string): ModelCapabilities | null {
    const { models } = shelf(agent);
    const exact = models.find((one) => one.modelId === modelId);
    const aliased = models.filter((one) => one.modelAlias === modelId);
    const current = aliased.filter((one) => !one.deprecated);
    const [meant, other] = current.length > 0 ? current : aliased;
    // A name that two models have means neither of them.
    return exact ?? (other === undefined ? (meant ?? null) : null);
  }

  async function refresh(agent: AgentName): Promise<void> {
    const before = shelf(agent);
    const found = await discover(agent);
    const at = now();
    shelves.set(agent, { ...before, models: merged(before.models, found, at.toISOString()), updated: at });
  }

  return {
    models: (agent) => shelf(agent).models,
    catalog(agent) {
      const { models, defaultModelId } = shelf(agent);
      return models.map((one) => ({ ...one, isDefault: one.modelId === defaultModelId }));
    },
    model,
    defaultModel(agent) {
      const { defaultModelId } = shelf(agent);
      return defaultModelId === null ? null : model(agent, defaultModelId);
    },
    validate: (agent, modelId) => validateModel(agent, shelf(agent).models, modelId),
    estimateCost: (agent, modelId, inputTokens, outputTokens) => estimateCost(model(agent, modelId), inputTokens, outputTokens),
    costOf(agent, modelId, usage) {
      const row = validateModel(agent, shelf(agent).models, modelId).model;
      return row === undefined ? undefined : usageCost(row, usage, now());
    },
    refresh,
    add: (source) => void shelves.set(source.agent, { ...source, updated: new Date(source.modelsAsOf) }),
    async refreshAll() {
      const outcomes = await Promise.allSettled([...shelves.keys()].map(refresh));
      const failed = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      if (failed.length > 0) throw new AggregateError(failed, `${failed.length} of ${outcomes.length} agents did not list their models`);
    },
    lastUpdated: (agent) => shelf(agent).updated,
  };
}

/** The agent's own list replaces older facts of the same model; prices and aliases it does not tell are kept. Models it no longer lists stay. */
function merged(before: readonly ModelCapabilities[], found: readonly ModelCapabilities[], at: string): ModelCapabilities[] {
  const known = new Map(before.map((one) => [one.modelId, one]));
  const fresh = found.map((one): ModelCapabilities => ({ ...known.get(one.modelId), ...one, source: 'remote', lastUpdated: at }));
  const listed = new Set(fresh.map(({ modelId }) => modelId));
  const taken = new Set(found.flatMap(({ modelAlias }) => modelAlias ?? []));
  return [...fresh, ...before.filter(({ modelId }) => !listed.has(modelId)).map((one) => withoutAlias(one, taken))];
}

/** An alias that the agent gives to another model now is that one's alone. */
function withoutAlias(model: ModelCapabilities, taken: ReadonlySet<string>): ModelCapabilities {
  const { modelAlias, ...rest } = model;
  return modelAlias !== undefined && taken.has(modelAlias) ? rest : model;
}
