import { z } from 'zod';
import { JsonValue } from '../json-value.ts';

const text = z.string();
const count = z.int().nonnegative();
const ms = z.number().nonnegative();

/** The cost of a run, a turn or a sub-agent so far. */
export const CostRecord = z.strictObject({
  totalUsd: z.number(),
  inputTokens: count,
  outputTokens: count,
  thinkingTokens: count.optional(),
  cachedTokens: count.optional(),
  cacheCreationTokens: count.optional(),
  cacheReadTokens: count.optional(),
});
export type CostRecord = z.infer<typeof CostRecord>;

/** One row of the event table: what the event says and the fields it has beside those of every event. */
export interface EventRow {
  readonly about: string;
  readonly fields: z.ZodRawShape;
}

const toolCall = { toolCallId: text, toolName: text };
const mcpCall = { toolCallId: text, server: text, toolName: text };
const subagent = { subagentId: text, agentName: text };
const plugin = { pluginId: text, pluginName: text };
const cost = CostRecord.optional();
/** Null when a signal ended the process. */
const exitCode = z.int().nullable();

/** Pieces do not repeat what came before. */
const LATE = 'A reader who came late gets the text so far once, with the next piece.';

/** Every event of a run. The union, the list of names, the JSON Schema and the docs come from this table. */
export const EVENTS = {
  session_start: { about: 'A session begins.', fields: { sessionId: text, resumed: z.boolean(), forkedFrom: text.optional() } },
  session_resume: { about: 'An earlier session goes on.', fields: { sessionId: text, priorTurnCount: count } },
  session_fork: { about: 'A session branches off another.', fields: { sessionId: text, forkedFrom: text } },
  session_checkpoint: { about: 'The session can be restored to this point.', fields: { sessionId: text, checkpointId: text } },
  session_end: { about: 'A session ends.', fields: { sessionId: text, turnCount: count, cost } },

  turn_start: { about: 'A turn begins.', fields: { turnIndex: count } },
  turn_end: { about: 'A turn ends.', fields: { turnIndex: count, cost } },
  step_start: { about: 'A step inside a turn begins.', fields: { turnIndex: count, stepIndex: count, stepType: text } },
  step_end: { about: 'A step inside a turn ends.', fields: { turnIndex: count, stepIndex: count } },

  message_start: { about: 'The agent begins a message.', fields: {} },
  text_delta: { about: `A piece of the message. ${LATE}`, fields: { delta: text, accumulated: text.optional() } },
  message_stop: { about: 'The message is complete.', fields: { text } },

  thinking_start: { about: 'The agent begins to think.', fields: { effort: text.optional() } },
  thinking_delta: { about: `A piece of the thinking. ${LATE}`, fields: { delta: text, accumulated: text.optional() } },
  thinking_stop: { about: 'The thinking is complete.', fields: { thinking: text } },

  tool_call_start: { about: 'A tool call begins; its input follows.', fields: { ...toolCall, inputAccumulated: text.optional() } },
  tool_input_delta: {
    about: `A piece of the input of a tool call. ${LATE}`,
    fields: { toolCallId: text, delta: text, inputAccumulated: text.optional() },
  },
  tool_call_ready: { about: 'The input of a tool call is complete.', fields: { ...toolCall, input: JsonValue } },
  tool_result: { about: 'A tool returned.', fields: { ...toolCall, output: JsonValue, durationMs: ms } },
  tool_error: { about: 'A tool failed.', fields: { ...toolCall, error: text } },

  file_read: { about: 'A file was read.', fields: { path: text } },
  file_write: { about: 'A file was written.', fields: { path: text, byteCount: count } },
  file_create: { about: 'A file was created.', fields: { path: text, byteCount: count } },
  file_delete: { about: 'A file was deleted.', fields: { path: text } },
  file_patch: { about: 'A file was changed in place.', fields: { path: text, diff: text } },

  shell_start: { about: 'A command begins.', fields: { command: text, cwd: text } },
  shell_stdout_delta: { about: 'A command wrote to its standard output.', fields: { delta: text } },
  shell_stderr_delta: { about: 'A command wrote to its error output.', fields: { delta: text } },
  shell_exit: { about: 'A command ended.', fields: { exitCode, durationMs: ms } },

  mcp_tool_call_start: { about: 'A tool of an MCP server is called.', fields: { ...mcpCall, input: JsonValue } },
  mcp_tool_result: { about: 'A tool of an MCP server returned.', fields: { ...mcpCall, output: JsonValue } },
  mcp_tool_error: { about: 'A tool of an MCP server failed.', fields: { ...mcpCall, error: text } },

  subagent_spawn: { about: 'The agent starts another agent.', fields: { ...subagent, prompt: text } },
  subagent_result: { about: 'A sub-agent is done.', fields: { ...subagent, summary: text, cost } },
  subagent_error: { about: 'A sub-agent failed.', fields: { ...subagent, error: text } },

  plugin_loaded: { about: 'A plugin was loaded.', fields: { ...plugin, version: text } },
  plugin_invoked: { about: 'A plugin is used.', fields: plugin },
  plugin_error: { about: 'A plugin failed.', fields: { ...plugin, error: text } },

  skill_loaded: { about: 'A skill was loaded; `source` is where it came from.', fields: { skillName: text, source: text } },
  skill_invoked: { about: 'A skill is used.', fields: { skillName: text } },
  agentdoc_read: { about: 'A file with instructions for agents was read.', fields: { path: text } },

  image_output: { about: 'The agent made an image.', fields: { mimeType: text, base64: text.optional(), filePath: text.optional() } },
  image_input_ack: { about: 'The agent took an image.', fields: { mimeType: text } },

  cost: { about: 'What the run has cost so far.', fields: { cost: CostRecord } },
  token_usage: {
    about: 'Tokens of one model call.',
    fields: { inputTokens: count, outputTokens: count, thinkingTokens: count.optional(), cachedTokens: count.optional() },
  },

  input_required: {
    about: 'The agent waits for an answer from the caller.',
    fields: { interactionId: text, question: text, context: text.optional(), source: z.enum(['agent', 'tool']) },
  },
  approval_request: {
    about: 'The agent waits for an approval.',
    fields: {
      interactionId: text,
      action: text,
      detail: text,
      toolName: text.optional(),
      toolCallId: text.optional(),
      riskLevel: z.enum(['low', 'medium', 'high']),
    },
  },
  approval_granted: { about: 'An approval was given.', fields: { interactionId: text } },
  approval_denied: { about: 'An approval was refused.', fields: { interactionId: text, reason: text.optional() } },

  rate_limited: { about: 'The model slows the agent down; it goes on by itself.', fields: { retryAfterMs: ms.optional() } },
  context_limit_warning: {
    about: 'The context is nearly full.',
    fields: { usedTokens: count, maxTokens: count, pctUsed: z.number().nonnegative() },
  },
  context_compacted: { about: 'The context was shortened.', fields: { summary: text, tokensSaved: count } },
  retry: { about: 'Something is tried again.', fields: { attempt: count, maxAttempts: count, reason: text, delayMs: ms } },

  interrupted: { about: 'The run was interrupted and can go on.', fields: {} },
  aborted: { about: 'The run was stopped for good.', fields: {} },
  paused: { about: 'The run stands still.', fields: {} },
  resumed: { about: 'The run goes on after a pause.', fields: {} },
  timeout: { about: 'The run, or its silence, lasted too long.', fields: { kind: z.enum(['run', 'inactivity']) } },
  turn_limit: { about: 'The run has used all its turns.', fields: { maxTurns: count } },
  stream_fallback: {
    about: 'The agent cannot stream this; it comes in one piece.',
    fields: { capability: z.enum(['text', 'tool_calls', 'thinking']), reason: text },
  },

  auth_error: { about: 'The agent has no valid credentials.', fields: { message: text, guidance: text } },
  rate_limit_error: { about: 'The agent gave up on a rate limit.', fields: { message: text, retryAfterMs: ms.optional() } },
  context_exceeded: { about: 'The context is full.', fields: { usedTokens: count, maxTokens: count } },
  crash: { about: 'The process of the agent died.', fields: { exitCode, stderr: text } },
  error: { about: 'The run met an error.', fields: { code: text, message: text, recoverable: z.boolean() } },

  debug: { about: 'A remark of the backplane about the run.', fields: { level: z.enum(['verbose', 'info', 'warn']), message: text } },
  log: { about: 'A line of the process that is no event.', fields: { source: z.enum(['stdout', 'stderr']), line: text } },
} as const satisfies Record<string, EventRow>;
