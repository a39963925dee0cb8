import { z } from 'zod';
import type { ListedModel } from './listing.ts';

/** The lists of the three vendors: OpenAI tells an id only, the others tell limits too. */
const VendorList = z.looseObject({
  data: z
    .array(
      z.looseObject({
        id: z.string(),
        display_name: z.string().nullish(),
        name: z.string().nullish(),
        max_input_tokens: z.number().nullish(),
        max_tokens: z.number().nullish(),
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
      contextWindow: model.max_input_tokens ?? undefined,
      maxOutputTokens: model.max_tokens ?? undefined,
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
