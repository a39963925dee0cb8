import { z } from 'zod';
import { JsonValue } from '../../contract/json-value.ts';

const text = z.string();
const nano = z.int().nonnegative().nullable();

/** Something that a coding agent or an agent waits for. */
export const Interaction = z.strictObject({
  id: text,
  kind: z.enum(['approval', 'input']),
  run_id: text.nullable(),
  session_id: text.nullable(),
  agent: text.describe('Who asks.'),
  title: text.describe('What it works on.'),
  tool: text.nullable(),
  input: JsonValue.describe('Exactly what it wants to do, never a summary.'),
  cwd: text.nullable(),
  last_words: text.nullable().describe('What it said before.'),
  asked_at: text,
  cost_nano_usd: nano,
  budget_nano_usd: nano,
  facts: z
    .array(text)
    .describe('What is known about the wish: runs_command, writes, writes_outside, reads_outside, network, secrets; interrupted_before.'),
  answer: z.strictObject({ method: z.literal('POST'), path: text }),
  answered: z
    .strictObject({ by: text, via: text, at: text, decision: z.enum(['approved', 'denied', 'answered']), reason: text.nullable() })
    .optional(),
});
export type Interaction = z.infer<typeof Interaction>;

export const InteractionList = z.strictObject({ items: z.array(Interaction), total: z.int() });
export const InteractionQuery = z.strictObject({ state: z.enum(['open', 'answered']).default('open') });
