import { z } from 'zod';
import type { JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { WorkspaceDelta } from '../../contract/receipts/parts.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import type { RunResult } from '../../contract/runs/run-result.ts';
import { chooseEngine } from '../../engines/index.ts';
import type { RunService } from '../../runtime/runs/service.ts';
import { runOfTurn } from '../ids.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Surroundings } from '../tools/surroundings.ts';
import { type Tool, type ToolContext, ToolFailure } from '../tools/tool.ts';
import type { CodingAgentTool } from './definition.ts';

/** For the start of the agent, its end and its receipt. */
const OVERHEAD_MS = 60_000;
/** The end of what an agent says is its conclusion, so the beginning is cut. */
const MOST_TEXT = 32 * 1024;
const MOST_LAST_WORDS = 2000;
const MOST_FILES = 500;
const NO_SERVER = 'runs in a server, and none serves this home; start abp serve';
const NOBODY = 'Nobody can answer here. Go on with your own judgement, or stop and say what you need.';

const Parameters = z.strictObject({
  prompt: z
    .string()
    .max(200_000)
    .regex(/\S/, 'must not be blank')
    .describe('What it is to do. It sees the files of the workspace, but nothing of this conversation.'),
  session: z
    .string()
    // It becomes an argument of a program: one that begins with a dash would be an option.
    .regex(/^[A-Za-z0-9][\w.:-]{0,199}$/, 'must be a session_id')
    .optional()
    .describe('The session_id of an earlier result, to go on with that conversation.'),
});

/** A run that has ended and what it left behind. */
interface EndedRun {
  readonly result: RunResult;
  /** Null where nobody could compare. */
  readonly files: readonly string[] | null;
}

/** A tool that is a run of a coding agent in the workspace of the session. */
export function codingAgentTool(definition: CodingAgentTool, { runs, secrets }: Surroundings): Tool {
  const { agent, policy, timeout_s: timeout } = definition;
  if (runs === undefined) throw new AbpError('unprocessable', `The coding agent ${agent} ${NO_SERVER}.`, { agent });
  return defineTool({
    name: codingAgentToolName(definition),
    description: definition.description ?? `Runs the coding agent ${agent} in the workspace of this session and returns what it says.`,
    parameters: Parameters,
    policy,
    effect: 'at_most_once',
    timeoutMs: timeout * 1000 + OVERHEAD_MS,
    run: async ({ prompt, session }, context) => {
      const options = runOptions(definition, { prompt, cwd: context.workspace, ...(session === undefined ? {} : { sessionId: session }) });
      const { result, files } = await ran(await runs(), { ...options, tags: tagsOf(context) }, context);
      const ended = { result: { ...result, text: secrets.redact(result.text) }, files };
      if (result.exitReason === 'completed') return answerOf(ended);
      throw new ToolFailure(secrets.redact(failureOf(ended)));
    },
  });
}

export function codingAgentToolName({ agent, name }: CodingAgentTool): string {
  return name ?? `run_${agent.replaceAll(/[^\w-]/g, '_')}`;
}

/** Faults of a definition that could never run. */
export async function codingAgentFaults(definition: CodingAgentTool, { runs }: Surroundings): Promise<string[]> {
  const { agent, engine } = definition;
  const faults = engine === undefined || chooseEngine(engine) !== undefined ? [] : [`engine: there is no engine ${engine}`];
  if (runs === undefined) return [...faults, `agent: ${agent} ${NO_SERVER}`];
  try {
    await (await runs()).check(runOptions(definition, { prompt: 'check' }));
    return faults;
  } catch (error) {
    if (!AbpError.is(error)) throw error;
    return [...faults, `agent: ${error.message}`];
  }
}

function runOptions(
  { agent, engine, model, thinking_effort: thinkingEffort, approval_mode: approvalMode, ...limits }: CodingAgentTool,
  call: Pick<RunOptions, 'prompt' | 'cwd' | 'sessionId'>,
): RunOptions {
  const { timeout_s: timeout, max_budget_usd: maxBudgetUsd } = limits;
  return {
    agent,
    ...call,
    approvalMode,
    nonInteractive: true,
    timeout: Math.ceil(timeout * 1000),
    ...(engine === undefined ? {} : { engine }),
    ...(model === undefined ? {} : { model }),
    ...(thinkingEffort === undefined ? {} : { thinkingEffort }),
    // The receipt says which of the two it was.
    ...(maxBudgetUsd === undefined ? {} : { maxBudgetUsd, enforcement: 'advisory' as const }),
  };
}

/** The same words by which the model calls of the turn are found, and the call. */
function tagsOf({ agentId, sessionId, callId, behalf }: ToolContext): string[] {
  const turn = behalf === undefined ? [] : [`turn:${behalf.turnId}`];
  return [`agent:${agentId}`, `session:${sessionId}`, ...turn, `call:${callId}`];
}

/** Runs the agent to its end, which comes early when the call is cancelled. */
async function ran(service: RunService, options: RunOptions, { signal, behalf }: ToolContext): Promise<EndedRun> {
  let delta: WorkspaceDelta | null = null;
  if (signal.aborted) throw new ToolFailure('The call was cancelled before the agent started.');
  const runId = await service.start(options, {
    owner: { keyId: behalf?.keyId ?? null, parent: behalf === undefined ? null : runOfTurn(behalf.turnId), tags: [] },
    keepWords: behalf?.recording === 'full',
    callbacks: { onInputRequired: () => NOBODY },
    onChanges: (changes) => {
      delta = changes;
    },
  });
  const live = service.live(runId);
  if (live === undefined) throw new AbpError('internal', `the run ${runId} is gone`);
  const stop = (): void => void live.handle.abort();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const result = await live.handle.result();
    // The row is ended first, so that a reader of the call's result finds the run ended too.
    await service.result(runId);
    return { result, files: filesOf(delta) };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function filesOf(delta: WorkspaceDelta | null): readonly string[] | null {
  return delta === null ? null : [...delta.added, ...delta.modified, ...delta.removed].sort();
}

function answerOf({ result, files }: EndedRun): JsonObject {
  const { text } = result;
  return {
    text: text.length <= MOST_TEXT ? text : text.slice(-MOST_TEXT).toWellFormed(),
    ...(text.length <= MOST_TEXT ? {} : { text_characters_total: text.length }),
    run_id: result.runId,
    session_id: result.sessionId,
    cost_usd: result.cost?.totalUsd ?? null,
    files_changed: files?.slice(0, MOST_FILES) ?? null,
    ...(files === null || files.length <= MOST_FILES ? {} : { files_changed_total: files.length }),
  };
}

/** All that the model can go on with: why, where, what was done and the last words. */
function failureOf({ result, files }: EndedRun): string {
  const { agent, exitReason, error, runId, sessionId, text } = result;
  return [
    `${agent} did not complete (${exitReason})${error === null ? '' : `: ${error.message}`}`,
    `Run ${runId}${sessionId === null ? '' : `, session ${sessionId}`}`,
    ...(files === null || files.length === 0 ? [] : [`Files changed: ${files.slice(0, MOST_FILES).join(', ')}`]),
    ...(text === '' ? [] : [`Last words: ${text.slice(-MOST_LAST_WORDS).toWellFormed()}`]),
  ].join('\n');
}
