import { z } from 'zod';
import { JsonRecord } from '../../contract/json-value.ts';

/** An error of the agent plane, as RFC 9457 writes it. */
export const Problem = z.strictObject({
  type: z.string().describe('The page of the error.'),
  title: z.string().describe('What errors of this code mean.'),
  status: z.int(),
  detail: z.string().describe('What is wrong, for people.'),
  instance: z.string().describe('The path that was asked for.'),
  code: z.string().describe('The code of the error table.'),
  retryable: z.boolean().describe('Whether the same request may succeed later.'),
  request_id: z.string().describe('req_ and the hex of the run.'),
  details: JsonRecord.optional().describe('What a program can act on.'),
});
export type Problem = z.infer<typeof Problem>;
