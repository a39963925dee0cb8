import { z } from 'zod';

/** How much one caller may use at a time. An absent member limits nothing. */
export const CallLimits = z.strictObject({
  requests_per_minute: z.int().positive().optional().describe('Calls to engines in any minute.'),
  tokens_per_minute: z
    .int()
    .positive()
    .optional()
    .describe('Tokens in any minute, sent and answered; each call reserves the most that it may use.'),
  concurrency: z.int().positive().optional().describe('Calls to engines at the same time.'),
});
export type CallLimits = z.infer<typeof CallLimits>;
