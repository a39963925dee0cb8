import { z } from 'zod';

const MONTH_S = 30 * 24 * 3600;

/** Whether answers may be given again, and to whom. */
export const CacheTerms = z.strictObject({
  ttl_s: z.number().positive().max(MONTH_S).describe('Seconds that an answer is kept for.'),
  shared: z.boolean().default(false).describe('Whether callers get answers that others asked for; else each caller its own.'),
});
export type CacheTerms = z.infer<typeof CacheTerms>;
