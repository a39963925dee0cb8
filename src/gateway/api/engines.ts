import { z } from 'zod';

const DeploymentView = z.strictObject({
  name: z.string(),
  region: z.string().nullable(),
  url: z.string().nullable(),
  weight: z.number(),
  has_key: z.boolean(),
  outstanding: z.int().describe('Calls that wait for its answer or are reading it.'),
  state: z.enum(['ready', 'resting']).describe('resting: calls go elsewhere for a while.'),
  rests: z.array(
    z.strictObject({
      reason: z.enum(['limited', 'failing', 'key_refused']),
      until: z.string(),
      model: z.string().nullable().describe('The model whose limit was met; null where it rests altogether.'),
    }),
  ),
});

export const EngineView = z.strictObject({
  id: z.string(),
  name: z.string(),
  base: z.string().nullable().describe('Of an engine that the configuration adds: the one that it is like.'),
  url: z.string().nullable().describe('Its address; null inside this process, or where none is set.'),
  aliases: z.array(z.string()),
  dialects: z.array(z.string()).describe('Dialects it speaks itself; the others are mapped.'),
  auth: z.enum(['key', 'caller', 'none']).describe('Whose credential goes upstream.'),
  has_key: z.boolean(),
  key_variable: z.string().nullable().describe('The environment variable that holds its key.'),
  health: z
    .strictObject({
      state: z.enum(['closed', 'open', 'half_open']).describe('open: it is not called for a while.'),
      failures_in_a_row: z.int(),
      last_success_at: z.string().nullable(),
      last_failure_at: z.string().nullable(),
      last_failure: z.string().nullable(),
    })
    .nullable()
    .describe('What calls to it have shown since the start; null for an engine inside this process.'),
  deployments: z
    .array(DeploymentView)
    .describe('Where it has several: each of them, as this node sees it. The members above are those of the first.'),
});
export type EngineView = z.infer<typeof EngineView>;

export const EngineList = z.strictObject({ items: z.array(EngineView), total: z.int() });
