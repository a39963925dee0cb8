import { z } from 'zod';
import { THINKING_EFFORT_LEVELS } from '../../contract/runs/coding-agent.ts';

const tokens = z.coerce.number().int().min(0).max(1_000_000_000).default(0);

export const CatalogueQuery = z.strictObject({
  q: z.string().max(200).optional().describe('A part of the name.'),
  engine: z.string().max(128).optional(),
  input_tokens: tokens.describe('Tokens of a request whose cost each model tells; those from the cache are part of them.'),
  output_tokens: tokens,
  cached_tokens: tokens,
});

const nano = z.number().describe('Billionths of a US dollar for a million tokens, at list price, as long as the request is short.');

const CatalogueModel = z.strictObject({
  engine: z.string(),
  id: z.string(),
  name: z.string(),
  context_window: z.int().nullable(),
  max_output_tokens: z.int().nullable(),
  thinking: z
    .strictObject({ levels: z.array(z.enum(THINKING_EFFORT_LEVELS)), budget: z.array(z.int()).nullable() })
    .nullable()
    .describe('null: it does not think, or nobody has said.'),
  images: z.boolean().nullable(),
  files: z.boolean().nullable(),
  rates: z.strictObject({ input: nano, output: nano, cache_read: nano, cache_write: nano }).nullable().describe('null: no price is known.'),
  cost_nano_usd: z.number().nullable().describe('Of the tokens in the question, with the tiers of the list; null: no price is known.'),
});
export type CatalogueModel = z.infer<typeof CatalogueModel>;

export const ModelCatalogue = z.strictObject({
  items: z.array(CatalogueModel),
  total: z.int(),
  prices: z.string().describe('The price data in use.'),
});
