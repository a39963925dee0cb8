import { join } from 'node:path';
import type { JsonObject } from '../../base/json.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import type { SpawnPlan, SpawnSpec, WaitsFor } from '../adapter.ts';
import { hasPrompt, promptText } from '../families/launch/prompt.ts';
import { NO_THINKING, type Unhonoured } from '../families/launch/thinking.ts';
import { outputLimit, unhonoured } from '../families/launch/unhonoured.ts';
import { windowOf } from '../families/launch/window.ts';
import { KEY_VARIABLE, type Wire, wireModel, wireTo } from '../families/launch/wire.ts';

export const WIRES: readonly [Wire, ...Wire[]] = [
  { dialect: 'openai-chat', api: 'chat_completions', path: '/v1' },
  { dialect: 'claude', api: 'anthropic_messages', path: '' },
  { dialect: 'openai-responses', api: 'codex_responses', path: '/v1' },
];

/** The agent remembers the kind of a provider with a session and not its name, so the name is the kind. */
const PROVIDER = 'custom';
/** The same provider under a second name: a resumed session is moved to it, and so from an old address to that of the run. */
const AGAIN = 'abp';
const MANAGED_FOLDER = 'hermes';

/**
 * Speaks ACP, the one way of this agent that tells what it does. The configuration of a run is a managed one, which the
 * agent lays over the user's own; the user's files and the store of sessions stay where they are.
 */
export function spawn(plan: SpawnPlan): SpawnSpec {
  const config = configOf(plan);
  const managed = Object.keys(config).length > 0;
  return {
    args: plan.interactive ? interactiveArgs(plan) : ['acp'],
    env: {
      ...(managed && { HERMES_MANAGED_DIR: join(plan.runFolder, MANAGED_FOLDER) }),
      ...APPROVAL_ENV[plan.options.approvalMode ?? 'none'],
      ...(plan.gateway !== undefined && { [KEY_VARIABLE]: plan.gateway.key }),
    },
    // JSON is YAML, which is what the agent reads.
    files: managed ? { [`${MANAGED_FOLDER}/config.yaml`]: JSON.stringify(config, null, 2) } : {},
    stdin: 'open',
    pty: plan.interactive,
    thinking: NO_THINKING,
    unhonoured: unhonouredBy(plan),
  };
}

/** Scripts are run unasked unless the agent takes itself for one that must ask, or for one that nobody watches. */
const APPROVAL_ENV: Readonly<Record<'yolo' | 'prompt' | 'deny' | 'none', Readonly<Record<string, string>>>> = {
  yolo: { HERMES_YOLO_MODE: '1' },
  prompt: { HERMES_EXEC_ASK: '1' },
  deny: { HERMES_CRON_SESSION: '1' },
  none: {},
};

export function waitsFor({ options, answerable, interactive }: SpawnPlan): WaitsFor {
  return answerable && !interactive && options.approvalMode === 'prompt' ? 'what-it-asks' : 'nothing';
}

function interactiveArgs({ options }: SpawnPlan): readonly string[] {
  const resume = options.sessionId === undefined ? [] : ['--resume', options.sessionId];
  return ['chat', ...resume, ...(hasPrompt(options) ? [`--query=${promptText(options)}`] : [])];
}

function configOf(plan: SpawnPlan): JsonObject {
  const { options } = plan;
  const { skills = [], maxTurns } = options;
  return {
    ...(plan.gateway !== undefined && gatewayOf(plan)),
    ...(plan.gateway === undefined && plan.modelId !== undefined && { model: { default: plan.model?.cliArgValue ?? plan.modelId } }),
    ...(maxTurns !== undefined && { agent: { max_turns: maxTurns } }),
    ...approvalsOf(options),
    ...(skills.length > 0 && { skills: { external_dirs: skills } }),
  };
}

/** The length of the context is told, as the agent would otherwise look for it at a dozen addresses; titles would be model calls. */
function gatewayOf(plan: SpawnPlan): JsonObject {
  const contextLength = windowOf(plan);
  return {
    model: { provider: PROVIDER, default: wireModel(plan), context_length: contextLength },
    providers: { [PROVIDER]: providerOf(plan), [AGAIN]: providerOf(plan) },
    auxiliary: { title_generation: { enabled: false } },
  };
}

/** The agent asks for edits by itself and for commands that look dangerous; a rule for all commands refuses the rest. */
function approvalsOf({ approvalMode }: RunOptions): JsonObject {
  if (approvalMode === 'prompt') return { approvals: { mode: 'manual' } };
  return approvalMode === 'deny' ? { approvals: { mode: 'manual', cron_mode: 'deny', deny: ['*'] } } : {};
}

function providerOf(plan: SpawnPlan): JsonObject {
  if (plan.gateway === undefined) return {};
  const { api, baseUrl } = wireTo(plan.gateway, WIRES);
  const limit = outputLimit(plan.options);
  const { temperature, topP } = plan.options;
  const sampling = { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { top_p: topP }) };
  return {
    base_url: baseUrl,
    key_env: KEY_VARIABLE,
    transport: api,
    default_model: wireModel(plan),
    ...(limit !== undefined && { max_output_tokens: limit }),
    ...(Object.keys(sampling).length > 0 && { extra_body: sampling }),
  };
}

/** The model that a resumed session goes on with. */
export function resumedModel(plan: SpawnPlan): string | undefined {
  return plan.gateway === undefined || plan.options.sessionId === undefined ? undefined : `custom:${AGAIN}:${wireModel(plan)}`;
}

function unhonouredBy(plan: SpawnPlan): Unhonoured {
  const own = 'the agent has no setting for it; its own configuration holds';
  return [
    ...(plan.options.systemPrompt === undefined
      ? []
      : [{ option: 'systemPrompt', reason: 'the agent owns its system prompt; the text stands before the prompt' }]),
    ...(plan.options.approvalMode === 'prompt'
      ? [
          {
            option: 'approvalMode',
            reason: 'the agent asks for edits and for commands that look dangerous; it refuses scripts and runs other commands',
          },
        ]
      : []),
    ...unhonoured(plan.options, {
      agentsDoc: 'the agent owns its system prompt; the text stands before the prompt',
      topK: 'the agent has no setting for it',
      ...(plan.options.noSession === true && { noSession: 'the agent stores every session' }),
      ...(plan.gateway === undefined && { temperature: own, topP: own, maxTokens: own, maxOutputTokens: own }),
    }),
  ];
}
