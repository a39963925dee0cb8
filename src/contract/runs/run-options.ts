import { z } from 'zod';
import { checkAt } from '../border.ts';
import { JsonRecord } from '../json-value.ts';
import { parseNamedRunId } from '../run-id.ts';
import { PolicyProfile, SystemVariables, systemWord } from '../work-orders/work-order.ts';
import { APPROVAL_MODES, THINKING_EFFORT_LEVELS } from './coding-agent.ts';
import { ValidationError } from './run-error.ts';
import { RunLimits } from './run-limits.ts';

/** Agents get options, their prompt among them, as arguments, variables and files. */
const text = systemWord;
/** A value that stands in the arguments of an agent, where one that begins with a dash would be an option. */
const argument = text.min(1).regex(/^[^-]/, 'must not begin with -');
const positive = z.int().positive();
const ms = z.int().nonnegative();

/** Something handed to the agent beside the prompt. Exactly one of the three places holds it. */
export const Attachment = z
  .strictObject({
    filePath: argument.optional(),
    url: z.url().optional(),
    base64: text.optional(),
    mimeType: text.optional(),
    name: text.optional(),
  })
  .refine((it) => [it.filePath, it.url, it.base64].filter((place) => place !== undefined).length === 1, {
    error: 'must have exactly one of filePath, url and base64',
  })
  .refine((it) => it.base64 === undefined || it.mimeType !== undefined, {
    error: 'must have a mimeType beside base64',
    path: ['mimeType'],
  });
export type Attachment = z.infer<typeof Attachment>;

const serverName = text.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -');

/** An MCP server the agent connects to during the run. */
export const McpServerConfig = z.discriminatedUnion('transport', [
  z.strictObject({
    name: serverName,
    transport: z.literal('stdio'),
    command: text.min(1),
    args: z.array(text).optional(),
    env: SystemVariables.optional(),
  }),
  z.strictObject({
    name: serverName,
    transport: z.enum(['sse', 'streamable-http']),
    url: z.url(),
    headers: z.record(text, text).optional(),
  }),
]);
export type McpServerConfig = z.infer<typeof McpServerConfig>;

/** Tries again after a failure, before the agent has said anything. */
export const RetryPolicy = z.strictObject({
  maxAttempts: positive.default(3),
  baseDelayMs: ms.default(1000),
  maxDelayMs: ms.default(30_000),
  jitterFactor: z.number().min(0).max(1).default(0.1),
  retryOn: z.array(text).default(['RATE_LIMITED', 'AGENT_CRASH', 'TIMEOUT']),
});
export type RetryPolicy = z.infer<typeof RetryPolicy>;

/** Where the agent is started. Only this machine is served; the other modes are known so that the refusal can say what to do. */
const Invocation = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('local') }),
  z.looseObject({ mode: z.enum(['docker', 'ssh', 'k8s']) }),
]);

/** Where the agent works: in the folder itself, or in a copy whose changes are applied when somebody asks for it. */
const RunWorkspace = z.strictObject({
  mode: z.enum(['pass_through', 'staged']),
  include: z.array(text.min(1)).optional(),
  exclude: z.array(text.min(1)).optional(),
});

/** The name of a profile: it is the name of a file. */
export const ProfileName = text.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -');

const options = {
  agent: text.min(1),
  prompt: z.union([text.min(1), z.array(text.min(1)).min(1)]),
  systemPrompt: text.optional(),
  systemPromptMode: z.enum(['prepend', 'append', 'replace']).optional(),
  model: argument.optional(),
  thinkingEffort: z.enum(THINKING_EFFORT_LEVELS).optional(),
  thinkingBudgetTokens: z.int().min(1).optional(),
  thinkingOverride: JsonRecord.refine(
    (given) => Object.values(given).every((value) => typeof value !== 'string' || !value.startsWith('-')),
    {
      error: 'must not have a text that begins with -',
    },
  ).optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  topK: positive.optional(),
  maxTokens: positive.optional(),
  maxOutputTokens: positive.optional(),
  sessionId: argument.optional(),
  forkSessionId: argument.optional(),
  noSession: z.boolean().optional(),
  stream: z.union([z.boolean(), z.literal('auto')]).optional(),
  outputFormat: z.enum(['text', 'json', 'jsonl']).optional(),
  /** `false`: the caller will talk to the agent while it runs, so it is held in the form that listens. `true`: nobody answers it. */
  nonInteractive: z.boolean().optional(),
  cwd: text.min(1).optional(),
  env: SystemVariables.optional(),
  timeout: ms.optional(),
  inactivityTimeout: ms.optional(),
  maxTurns: positive.optional(),
  maxBudgetUsd: z.number().positive().optional(),
  /** `advisory`: the caller accepts rules and a budget that nothing holds; the receipt says so. */
  enforcement: z.enum(['enforced', 'advisory']).optional(),
  approvalMode: z.enum(APPROVAL_MODES).optional(),
  /** An approval that nobody answers for so many milliseconds is denied; 0 waits for ever. */
  approvalTimeout: ms.optional(),
  workspace: RunWorkspace.optional(),
  /** Rules about what the agent may touch, beside those of the operator for every run. */
  policy: PolicyProfile.partial().optional(),
  /** The agent is confined by the operating system, or not started. */
  sandbox: z.boolean().optional(),
  /** Hard limits of everything that the run starts, beside those of every sandbox. */
  limits: RunLimits.optional(),
  /** A command that judges the work in a copy of the stage, confined as the agent was; its outcome is in the receipt. */
  check: text.min(1).optional(),
  /** A check that takes longer is ended and has not passed. */
  checkTimeout: ms.optional(),
  skills: z.array(argument).optional(),
  agentsDoc: text.optional(),
  retryPolicy: RetryPolicy.optional(),
  /** The id of the run, made by the caller; a second run of the same id is refused, so that a start can be sent again. */
  runId: text
    .refine((id) => parseNamedRunId(id) !== undefined, 'must be run_ and the 32 hex digits of a UUIDv7, the UUID itself, or a ULID')
    .optional(),
  /** The project that the run belongs to; its receipts carry the tag `project:<id>`. */
  projectId: text.min(1).max(200).optional(),
  tags: z.array(text).optional(),
  invocation: Invocation.optional(),
  collectEvents: z.boolean().optional(),
  gracePeriodMs: ms.optional(),
  engine: argument.optional(),
  direct: z.boolean().optional(),
  compatibility: z.enum(['strict', 'best_effort']).optional(),
  /** Options by a name, under those that are given here. */
  profile: ProfileName.optional(),
  // Complaints come in this order: plain fields first, then what is handed over, then servers.
  attachments: z.array(Attachment).optional(),
  mcpServers: z.array(McpServerConfig).optional(),
};

const SESSION_WAYS = ['sessionId', 'forkSessionId', 'noSession'] as const;
const ONE_SESSION = 'must have at most one of sessionId, forkSessionId and noSession';

/** A run begins a session, goes on with one, branches off one, or has none. */
function hasOneSession(options: object): boolean {
  const given = new Map(Object.entries(options));
  return SESSION_WAYS.filter((way) => given.get(way) !== undefined && given.get(way) !== false).length <= 1;
}

const NO_FUNCTIONS =
  'are functions of the process that runs the agent and cannot be sent; answer its questions at /v1/runs/{run_id}/interactions/{interaction_id}';

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** A run that is asked for. Callbacks of the in-process client stand beside these. */
export const RunOptions = z
  .strictObject({ ...options, hooks: z.never(NO_FUNCTIONS).optional().describe('Functions of the in-process client; refused here.') })
  .refine(hasOneSession, {
    error: ONE_SESSION,
    // Also told where fields are wrong.
    when: ({ value }) => isObject(value),
  })
  .refine(({ check, workspace }) => check === undefined || workspace?.mode === 'staged', {
    error: 'needs a staged workspace: it judges a copy of the work',
    path: ['check'],
  });
export type RunOptions = Omit<z.infer<typeof RunOptions>, 'hooks'>;

/** Options that are kept under a name. What belongs to one run alone is not among them. */
export const RunProfile = z
  .strictObject(options)
  .omit({ prompt: true, env: true, cwd: true, sessionId: true, forkSessionId: true, noSession: true, attachments: true })
  .omit({ agentsDoc: true, profile: true, runId: true, projectId: true })
  .partial();
export type RunProfile = z.infer<typeof RunProfile>;

/** The tags of a run, with the one of its project. */
export function runTags({ tags = [], projectId }: Pick<RunOptions, 'tags' | 'projectId'>): readonly string[] {
  return projectId === undefined ? tags : [...tags, `project:${projectId}`];
}

/** Options as a caller wrote them, checked; throws a ValidationError that names every field that is wrong. */
export function parseRunOptions(value: unknown): RunOptions {
  const checked = checkAt(RunOptions, value);
  if (checked.ok) return checked.value;
  // Faults of the options as a whole come first.
  const ordered = checked.complaints.toSorted((a, b) => Number(a.path !== '') - Number(b.path !== ''));
  throw new ValidationError(ordered.map(({ path, message }) => ({ field: path, message })));
}
