import type { AgentName, ModelCapabilities } from '../contract/runs/coding-agent.ts';
import type { ModelFact } from './model-fact.ts';

/** An agent's additions to the facts of its models. */
export interface BundleOptions {
  readonly agent: AgentName;
  /** ISO 8601 date of the snapshot. */
  readonly asOf: string;
  /** The option of the CLI that takes the model. */
  readonly cliArgKey: string;
  readonly deployment?: ModelCapabilities['deployment'];
  readonly supportsLocalModels?: boolean;
  /** The agent does not bill by token, so list prices would mislead. */
  readonly unpriced?: boolean;
}

/** The differences of one model under this agent. */
export interface BundleRow {
  readonly fact: ModelFact;
  /** The name the agent uses, where it is not the vendor's. */
  readonly modelId?: string;
  readonly alias?: string;
  readonly overrides?: Partial<ModelCapabilities>;
}

/** One row of an agent's bundled list. */
export function bundledModel(options: BundleOptions, { fact, modelId = fact.id, alias, overrides }: BundleRow): ModelCapabilities {
  const providerModelId = fact.datedId ?? (modelId === fact.id ? undefined : fact.id);
  return {
    agent: options.agent,
    modelId,
    ...(alias !== undefined && { modelAlias: alias }),
    displayName: fact.name,
    deprecated: fact.deprecated !== undefined,
    ...(fact.deprecated?.since !== undefined && { deprecatedSince: fact.deprecated.since }),
    ...(fact.deprecated?.successor !== undefined && { successorModelId: fact.deprecated.successor }),
    contextWindow: fact.contextWindow,
    maxOutputTokens: fact.maxOutputTokens,
    ...(options.unpriced === true ? {} : pricesOf(fact)),
    ...thinkingOf(fact),
    supportsToolCalling: true,
    supportsParallelToolCalls: true,
    supportsToolCallStreaming: true,
    supportsJsonMode: fact.jsonMode,
    supportsStructuredOutput: fact.structuredOutput,
    supportsTextStreaming: true,
    supportsThinkingStreaming: fact.thinking !== undefined,
    supportsImageInput: fact.images,
    supportsImageOutput: false,
    supportsFileInput: fact.files,
    provider: fact.provider,
    ...(providerModelId !== undefined && { providerModelId }),
    protocol: fact.protocol,
    ...(options.deployment !== undefined && { deployment: options.deployment }),
    ...(options.supportsLocalModels !== undefined && { supportsLocalModels: options.supportsLocalModels }),
    cliArgKey: options.cliArgKey,
    cliArgValue: modelId,
    lastUpdated: `${options.asOf}T00:00:00.000Z`,
    source: 'bundled',
    ...overrides,
  };
}

function thinkingOf({ thinking }: ModelFact): Pick<ModelCapabilities, 'supportsThinking'> & Partial<ModelCapabilities> {
  if (thinking === undefined) return { supportsThinking: false };
  const most = thinking.budget?.[1] ?? thinking.most;
  return {
    supportsThinking: true,
    thinkingEffortLevels: thinking.levels,
    ...(thinking.budget !== undefined && { thinkingBudgetRange: thinking.budget }),
    ...(most !== undefined && { maxThinkingTokens: most }),
  };
}

function pricesOf({ price, tiers, thinking }: ModelFact): Partial<ModelCapabilities> {
  if (price === undefined) return {};
  return {
    inputPricePerMillion: price.input,
    outputPricePerMillion: price.output,
    // Every vendor here bills thinking as output.
    ...(thinking !== undefined && { thinkingPricePerMillion: price.output }),
    ...(price.cached !== undefined && { cachedInputPricePerMillion: price.cached }),
    ...(price.cacheWrite !== undefined && { cacheWritePricePerMillion: price.cacheWrite }),
    ...(tiers !== undefined && tiers.length > 0 && { priceTiers: tiers.map(tierOf) }),
  };
}

function tierOf(tier: NonNullable<ModelFact['tiers']>[number]): NonNullable<ModelCapabilities['priceTiers']>[number] {
  return {
    inputTokensAbove: tier.inputTokensAbove,
    inputPricePerMillion: tier.input,
    outputPricePerMillion: tier.output,
    ...(tier.cached !== undefined && { cachedInputPricePerMillion: tier.cached }),
    ...(tier.cacheWrite !== undefined && { cacheWritePricePerMillion: tier.cacheWrite }),
  };
}
