import { findProvider } from '@pydantic/genai-prices';

/** A model as lists show it. */
export interface CatalogueModel {
  readonly id: string;
  readonly name: string;
  readonly contextWindow?: number;
}

/** Not for conversation: they answer on other endpoints. */
const OTHER_KINDS =
  /embedding|whisper|tts|davinci|babbage|ada-|curie|moderation|dall-e|image|veo|imagen|audio|realtime|transcribe|voice|sora|rerank/;

/** Current chat models of a provider in the bundled price data; none for a provider it does not know. */
export function catalogueOf(provider: string): CatalogueModel[] {
  const models = findProvider({ providerId: provider })?.models ?? [];
  return models
    .filter((model) => model.deprecated !== true && !OTHER_KINDS.test(model.id))
    .map(({ id, name, context_window: contextWindow }) => ({
      id,
      name: name ?? id,
      ...(contextWindow === undefined ? {} : { contextWindow }),
    }));
}
