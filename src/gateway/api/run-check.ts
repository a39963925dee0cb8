import { z } from 'zod';
import { Fate } from '../../contract/negotiation.ts';

/** What would become of a run with these options. */
export const RunCheck = z.strictObject({
  ok: z.boolean().describe('Whether it would be started.'),
  fidelity: z
    .array(z.strictObject({ path: z.string(), fate: Fate, note: z.string().optional() }))
    .describe('Options that would not arrive as they are.'),
  error: z.strictObject({ code: z.string(), message: z.string() }).optional().describe('Why it would not be started.'),
});
