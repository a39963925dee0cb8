import { z } from 'zod';
import { RunRow } from './run-rows.ts';

const count = z.int().nonnegative();

/** A run as people read it: what no receipt holds, put together from what is kept beside it. */
export const RunReport = z.strictObject({
  run_id: z.string(),
  prompt: z.string().nullable().describe('The first line of what was asked; null where words are not kept.'),
  session_id: z.string().nullable().describe('The session of a turn, or the conversation of a coding agent.'),
  key_name: z.string().nullable(),
  tool_calls: z
    .array(
      z.strictObject({
        id: z.string().nullable(),
        name: z.string(),
        arguments: z.string().nullable().describe('The first 2,000 characters; null where they are not kept.'),
      }),
    )
    .describe('In the order in which they were made.'),
  files: z
    .array(
      z.strictObject({
        path: z.string(),
        change: z.enum(['added', 'modified', 'removed']),
        lines_added: count.nullable().describe('null where no patch is kept.'),
        lines_removed: count.nullable(),
        diff: z.string().nullable().describe('Its pieces as a unified diff, the first 20,000 characters; null where no patch is kept.'),
      }),
    )
    .describe('What changed in the workspace.'),
  calls: z.array(RunRow).describe('Calls and runs that were made for it, oldest first; the last 200 at most.'),
  calls_total: count.describe('How many there are.'),
});
export type RunReport = z.infer<typeof RunReport>;
