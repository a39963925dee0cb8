import { z } from 'zod';
import { Fate } from '../../contract/negotiation.ts';
import { Plane, RunStatus } from '../../contract/receipts/parts.ts';
import { PendingInteraction, RunResult, RunState } from '../../contract/runs/run-result.ts';
import { QUEUE_TIMES } from '../../runtime/runs/handle.ts';

export const RunParams = z.strictObject({ run_id: z.string() });
export const InteractionParams = RunParams.extend({ interaction_id: z.string() });

export const RunListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  cursor: z.string().optional(),
  plane: Plane.optional(),
  engine: z.string().optional(),
  model: z.string().optional(),
  status: RunStatus.optional(),
  key: z.string().optional(),
  tag: z.string().optional(),
});

export const RunSummary = z.strictObject({
  run_id: z.string(),
  parent_run_id: z.string().nullable(),
  plane: Plane,
  status: RunStatus,
  reason: z.string().nullable(),
  task: z.string(),
  backend: z.string().describe('What executes it: engine:claude, adapter:codex.'),
  engine: z.string().nullable(),
  model: z.string().nullable().describe('As it was asked for.'),
  started_at: z.string(),
  completed_at: z.string().nullable(),
  key_id: z.string().nullable(),
  tags: z.array(z.string()),
});
export type RunSummary = z.infer<typeof RunSummary>;

export const RunList = z.strictObject({ items: z.array(RunSummary), next_cursor: z.string().optional() });

export const StartedRun = z.strictObject({ run_id: z.string(), status: z.literal('running') });

export const RunView = RunSummary.extend({
  agent: z.string().nullable().describe('The coding agent; null for runs of other planes.'),
  state: RunState.nullable().describe('Where a live run of a coding agent stands.'),
  options: z.record(z.string(), z.unknown()).nullable().describe('What it was started with, without the values of secrets.'),
  interactions: z.array(PendingInteraction).describe('What it waits for.'),
  result: RunResult.partial().nullable().describe('What it came to, once it has ended.'),
});

export const RunEventsQuery = z.strictObject({
  after: z.coerce.number().int().nonnegative().optional().describe('Go on after the event of this number; Last-Event-ID says the same.'),
});

export const RunInput = z.strictObject({
  text: z.string().min(1).describe('A message to the running agent.'),
  when: z
    .enum(['now', 'steer', ...QUEUE_TIMES])
    .default('now')
    .describe('At once, as a change of the work under way, or later: after the answer, the next tool or the next message.'),
});
export type RunInput = z.infer<typeof RunInput>;

export const RunInterrupt = z.strictObject({
  hold: z.boolean().default(false).describe('Keeps the agent, where it takes messages, until it is told to continue.'),
});

export const RunContinue = z.strictObject({
  text: z.string().min(1).default('Continue.').describe('What the agent goes on with.'),
});

export const InteractionReply = z.union([
  z.strictObject({
    approve: z.boolean(),
    reason: z.string().optional().describe('For the receipt; for the agent too, when the answer is no.'),
  }),
  z.strictObject({ text: z.string() }),
]);
export type InteractionReply = z.infer<typeof InteractionReply>;

/** The fate of a run with these options. */
export const RunCheck = z.strictObject({
  ok: z.boolean().describe('Whether it would be started.'),
  fidelity: z
    .array(z.strictObject({ path: z.string(), fate: Fate, note: z.string().optional() }))
    .describe('Options that would not arrive as they are.'),
  error: z.strictObject({ code: z.string(), message: z.string() }).optional().describe('Why it would not be started.'),
});
