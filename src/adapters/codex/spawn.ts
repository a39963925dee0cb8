import type { JsonObject } from '../../base/json.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import type { SpawnPlan, SpawnSpec, ThinkingDelivery, WaitsFor } from '../adapter.ts';
import { promptText, systemPromptOf } from '../families/launch/prompt.ts';
import { NO_THINKING, type Unhonoured } from '../families/launch/thinking.ts';
import { unhonoured } from '../families/launch/unhonoured.ts';
import { KEY_VARIABLE, wireModel } from '../families/launch/wire.ts';
import { configArgs, gatewayConfig, isOpenAi, mcpByVariables } from './config.ts';

/**
 * Runs are held with the app server: unlike `codex exec` it streams, asks and can be spoken to. The user's configuration folder stays,
 * with login and sessions; what the run adds are settings in the arguments, and in the first messages what may hold secrets or be long.
 */
export function spawn(plan: SpawnPlan): SpawnSpec {
  const { gateway, interactive } = plan;
  return {
    args: interactive ? screenArgs(plan) : ['app-server', ...configArgs(settingsOf(plan))],
    env: {
      ...(gateway !== undefined && gateway.ownLogin !== true && { [KEY_VARIABLE]: gateway.key }),
      ...(interactive && mcpByVariables(plan.options.mcpServers ?? []).env),
    },
    files: {},
    stdin: interactive ? 'closed' : 'open',
    pty: interactive,
    thinking: thinkingDelivery(plan),
    unhonoured: unhonouredBy(plan),
  };
}

function settingsOf(plan: SpawnPlan): JsonObject {
  const effort = effortOf(plan);
  return {
    ...(plan.gateway !== undefined && gatewayConfig(plan.gateway)),
    ...(effort !== undefined && { model_reasoning_effort: effort, model_reasoning_summary: 'auto' }),
  };
}

/** The agent's own screen takes as arguments what a run says in its first messages. */
function screenArgs(plan: SpawnPlan): readonly string[] {
  const { options } = plan;
  const model = modelOf(plan);
  const { approvalPolicy, sandbox } = approvalOf(plan);
  const instructions = instructionsOf(options).developerInstructions;
  const prompt = promptText(options);
  return [
    ...(options.sessionId === undefined ? [] : ['resume', options.sessionId]),
    ...(options.forkSessionId === undefined ? [] : ['fork', options.forkSessionId]),
    ...configArgs({
      ...settingsOf(plan),
      ...mcpByVariables(options.mcpServers ?? []).config,
      ...(instructions !== undefined && { developer_instructions: instructions }),
    }),
    ...(model === undefined ? [] : ['-m', model]),
    ...(options.approvalMode === undefined ? [] : ['-a', approvalPolicy, '-s', sandbox]),
    ...(prompt.trim() === '' ? [] : ['--', prompt]),
  ];
}

/** The agent's own choice would be a model whose tools stand where only OpenAI looks for them. */
export function modelOf(plan: SpawnPlan): string | undefined {
  const named = plan.model?.cliArgValue ?? plan.modelId;
  return named ?? (plan.gateway === undefined || isOpenAi(plan.gateway) ? undefined : wireModel(plan));
}

/** Somebody answers the agent's questions. */
export function asks({ options, answerable }: SpawnPlan): boolean {
  return answerable && (options.approvalMode ?? 'prompt') === 'prompt';
}

export function waitsFor(plan: SpawnPlan): WaitsFor {
  return asks(plan) ? 'what-it-asks' : 'nothing';
}

/**
 * When the agent asks, and what its commands may do unasked. Where somebody answers, its own sandbox stays out of the way: it tries an
 * approved command inside first, and one that fails there for a reason which it does not recognise, or sees too late, has been approved
 * and is not done.
 */
export function approvalOf(plan: SpawnPlan): { readonly approvalPolicy: string; readonly sandbox: string } {
  if (plan.options.approvalMode === 'yolo') return { approvalPolicy: 'never', sandbox: 'danger-full-access' };
  // It does not work inside another one, which holds more.
  const sandbox = asks(plan) || plan.confined === true ? 'danger-full-access' : 'read-only';
  return { approvalPolicy: asks(plan) || plan.interactive ? 'untrusted' : 'never', sandbox };
}

const JSON_ONLY = 'Answer with one JSON object and nothing else: no prose, no code fence.';

/** The caller's system prompt as Codex takes it: in place of its own, or added to it. */
export function instructionsOf(options: RunOptions): { readonly baseInstructions?: string; readonly developerInstructions?: string } {
  const { replace, before, after } = systemPromptOf(options);
  const json = options.outputFormat === 'json' ? JSON_ONLY : undefined;
  const added = [before, after, json].filter((text) => text !== undefined).join('\n\n');
  return { ...(replace !== undefined && { baseInstructions: replace }), ...(added !== '' && { developerInstructions: added }) };
}

function effortOf({ thinking }: SpawnPlan): string | undefined {
  const effort = thinking.reasoning_effort ?? thinking.effort;
  return typeof effort === 'string' ? effort : undefined;
}

function thinkingDelivery(plan: SpawnPlan): ThinkingDelivery {
  const effort = effortOf(plan);
  return effort === undefined ? NO_THINKING : { by: 'flag', detail: `-c model_reasoning_effort="${effort}"` };
}

const NO_SAMPLING = 'the agent has no setting for it';

function unhonouredBy(plan: SpawnPlan): Unhonoured {
  const { options, thinking, interactive } = plan;
  const known = ['reasoning_effort', 'effort'];
  return [
    ...(systemPromptOf(options).before === undefined
      ? []
      : [{ option: 'systemPromptMode', reason: 'the agent has no place before its own prompt; the text stands after it' }]),
    ...((options.sessionId ?? options.forkSessionId) !== undefined && instructionsOf(options).developerInstructions !== undefined
      ? [{ option: 'systemPrompt', reason: 'a session keeps the instructions that it began with' }]
      : []),
    ...(options.outputFormat === 'json' ? [{ option: 'outputFormat', reason: 'asked for in the instructions; nothing enforces it' }] : []),
    ...Object.keys(thinking)
      .filter((name) => !known.includes(name))
      .map((name) => ({ option: `thinkingOverride.${name}`, reason: 'the agent has no such parameter' })),
    ...unhonoured(options, {
      temperature: NO_SAMPLING,
      topP: NO_SAMPLING,
      topK: NO_SAMPLING,
      maxTokens: NO_SAMPLING,
      maxOutputTokens: NO_SAMPLING,
      ...(interactive && { noSession: 'the screen of the agent always keeps its session' }),
    }),
  ];
}
