import { type ModelCapabilities, THINKING_EFFORT_LEVELS, type ThinkingEffortLevel } from '../contract/runs/coding-agent.ts';
import { type BundleOptions, bundledModel } from '../models/bundled.ts';
import type { ModelFact } from '../models/model-fact.ts';

/** A model as an agent or an engine lists it: what it does not tell is left out. */
export interface ListedModel {
  readonly modelId: string;
  readonly name?: string | undefined;
  readonly alias?: string | undefined;
  readonly provider?: string | undefined;
  readonly contextWindow?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly price?: ModelFact['price'] | undefined;
  readonly thinks?: boolean | undefined;
  /** Level words of the agent; those that are not ours are left out. */
  readonly levels?: readonly string[] | undefined;
  readonly images?: boolean | undefined;
}

/** Rows of a list that an agent printed: what it tells over what is bundled of the same model. */
export function listedModels(
  options: BundleOptions,
  bundled: readonly ModelCapabilities[],
  listed: readonly ListedModel[],
): ModelCapabilities[] {
  return listed.map((model) => {
    const known = bundled.find(({ modelId }) => modelId === model.modelId);
    return { ...(known ?? stranger(options, model)), ...told(model) };
  });
}

/** A model that came after the bundled data. Limits that nobody tells are taken to be small. */
function stranger(options: BundleOptions, model: ListedModel): ModelCapabilities {
  const provider = PROVIDERS.find((known) => known === model.provider) ?? 'other';
  const fact: ModelFact = {
    id: model.modelId,
    name: model.name ?? model.modelId,
    provider,
    protocol: PROTOCOLS[provider],
    contextWindow: 128_000,
    maxOutputTokens: 16_384,
    ...(model.price !== undefined && { price: model.price }),
    ...(model.thinks !== false && { thinking: { levels: THINKING_EFFORT_LEVELS } }),
    images: model.images ?? true,
    files: model.images ?? true,
    jsonMode: true,
    structuredOutput: true,
  };
  return bundledModel(options, { fact });
}

const PROVIDERS = ['anthropic', 'openai', 'google'] as const;
const PROTOCOLS = { anthropic: 'messages', openai: 'responses', google: 'custom', other: 'chat' } as const;

function told(model: ListedModel): Partial<ModelCapabilities> {
  const levels = model.levels === undefined ? undefined : levelsIn(model.levels);
  return {
    ...(model.name !== undefined && { displayName: model.name }),
    ...(model.alias !== undefined && { modelAlias: model.alias }),
    ...(model.contextWindow !== undefined && { contextWindow: model.contextWindow }),
    ...(model.maxOutputTokens !== undefined && { maxOutputTokens: model.maxOutputTokens }),
    ...(model.price !== undefined && { inputPricePerMillion: model.price.input, outputPricePerMillion: model.price.output }),
    ...(model.thinks !== undefined && { supportsThinking: model.thinks, supportsThinkingStreaming: model.thinks }),
    ...(levels !== undefined && levels.length > 0 && { thinkingEffortLevels: levels }),
    ...(model.images !== undefined && { supportsImageInput: model.images }),
    deprecated: false,
  };
}

function levelsIn(words: readonly string[]): ThinkingEffortLevel[] {
  return THINKING_EFFORT_LEVELS.filter((level) => words.includes(level));
}
