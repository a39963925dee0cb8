import { z } from 'zod';
import type { ListedModel } from './listing.ts';

/** The lists of the vendors: OpenAI tells an id only, others tell limits, OpenRouter prices too. */
const VendorList = z.looseObject({
  data: z
    .array(
      z.looseObject({
        id: z.string(),
        display_name: z.string().nullish(),
        name: z.string().nullish(),
        max_input_tokens: z.number().nullish(),
        max_tokens: z.number().nullish(),
        context_length: z.number().nullish(),
        // vLLM's and llama.cpp's words.
        max_model_len: z.number().nullish(),
        meta: z.looseObject({ n_ctx: z.number().nullish(), n_ctx_train: z.number().nullish() }).nullish(),
        top_provider: z.looseObject({ max_completion_tokens: z.number().nullish() }).nullish(),
        pricing: z.looseObject({ prompt: z.string(), completion: z.string() }).nullish(),
      }),
    )
    .optional(),
  models: z
    .array(
      z.looseObject({
        name: z.string(),
        displayName: z.string().nullish(),
        inputTokenLimit: z.number().nullish(),
        outputTokenLimit: z.number().nullish(),
        thinking: z.boolean().nullish(),
        supportedGenerationMethods: z.array(z.string()).nullish(),
      }),
    )
    .optional(),
});

/** The chat models in an engine's list of models. */
export function endpointModels(payload: unknown): ListedModel[] {
  const { data = [], models = [] } = VendorList.parse(payload);
  return [
    ...data.map((model) => ({
      modelId: model.id,
      name: model.display_name ?? model.name ?? undefined,
      contextWindow:
        model.max_input_tokens ?? model.context_length ?? model.max_model_len ?? model.meta?.n_ctx ?? model.meta?.n_ctx_train ?? undefined,
      maxOutputTokens: model.max_tokens ?? model.top_provider?.max_completion_tokens ?? undefined,
      price: priceOf(model.pricing ?? undefined),
    })),
    ...models
      .filter(({ supportedGenerationMethods: methods }) => methods?.includes('generateContent') ?? true)
      .map((model) => ({
        modelId: model.name.replace(/^models\//, ''),
        name: model.displayName ?? undefined,
        provider: 'google',
        contextWindow: model.inputTokenLimit ?? undefined,
        maxOutputTokens: model.outputTokenLimit ?? undefined,
        thinks: model.thinking ?? undefined,
      })),
  ];
}

/** Told as dollars per token, in words; a price below nothing stands for one that depends on where a request is sent. */
function priceOf(pricing: { readonly prompt: string; readonly completion: string } | undefined): ListedModel['price'] {
  if (pricing === undefined) return undefined;
  const [input = -1, output = -1] = [pricing.prompt, pricing.completion].map((dollars) => Number((Number(dollars) * 1e6).toFixed(6)));
  return input >= 0 && output >= 0 ? { input, output } : undefined;
}
