import { z } from 'zod';
import { AgentEvent } from './event.ts';
import { CostRecord } from './event-table.ts';

const count = z.int().nonnegative();

/** Why a run of a coding agent ended. */
export const ExitReason = z.enum([
  'completed',
  'failed',
  'aborted',
  'interrupted',
  'timeout',
  'inactivity',
  'turn_limit',
  'budget',
  'disk',
  'crashed',
  'killed',
]);
export type ExitReason = z.infer<typeof ExitReason>;

/** Where a run of a coding agent stands. */
export const RunState = z.enum(['spawned', 'running', 'paused', 'interrupted', 'aborted', 'timed-out', 'completed', 'crashed', 'killed']);
export type RunState = z.infer<typeof RunState>;

/** Tokens of all model calls of a run. */
export const RunTokenUsage = z.strictObject({
  input: count,
  output: count,
  thinking: count,
  cached: count,
  total: count,
});
export type RunTokenUsage = z.infer<typeof RunTokenUsage>;

/** The result of a run of a coding agent. */
export const RunResult = z.strictObject({
  runId: z.string(),
  agent: z.string(),
  model: z
    .string()
    .nullable()
    .describe(
      'The model that was asked for, else the one that answered most, else the default of the agent, which is called `default` where nobody knows its name.',
    ),
  sessionId: z.string().nullable().describe('The session of the agent, to be resumed.'),
  text: z.string().describe('What the agent said, all messages of it.'),
  cost: CostRecord.nullable().describe('What it cost; null when nobody knows.'),
  durationMs: z.number().nonnegative(),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  exitReason: ExitReason,
  tokenUsage: RunTokenUsage,
  turnCount: count,
  error: z
    .strictObject({ code: z.string(), message: z.string(), stderr: z.string(), recoverable: z.boolean() })
    .nullable()
    .describe('Why it did not complete.'),
  events: z.array(AgentEvent).describe('Every event, when the caller asked to collect them.'),
  tags: z.array(z.string()),
  projectId: z.string().optional().describe('What the run belongs to, where its caller said so.'),
});
export type RunResult = z.infer<typeof RunResult>;

/** Something a running agent waits for. */
export const PendingInteraction = z.strictObject({
  id: z.string(),
  type: z.enum(['approval', 'input']),
  runId: z.string(),
  description: z.string(),
  detail: z.string(),
  createdAt: z.number().describe('Milliseconds since the epoch.'),
});
export type PendingInteraction = z.infer<typeof PendingInteraction>;
