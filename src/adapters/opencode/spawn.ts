import { join } from 'node:path';
import type { JsonObject } from '../../base/json.ts';
import type { McpServerConfig, RunOptions } from '../../contract/runs/run-options.ts';
import type { SpawnPlan, SpawnSpec, ThinkingDelivery, WaitsFor } from '../adapter.ts';
import { attachedFiles } from '../attachments.ts';
import { hasPrompt, promptText, promptWithTexts, systemPromptOf } from '../families/launch/prompt.ts';
import { NO_THINKING, thinkingWish, type Unhonoured, unknownOverrides } from '../families/launch/thinking.ts';
import { outputLimit, unhonoured } from '../families/launch/unhonoured.ts';
import { windowOf } from '../families/launch/window.ts';
import { type Wire, wireModel, wireTo } from '../families/launch/wire.ts';
import { variantOf } from './thinking.ts';

/** The npm packages are bundled with the agent; each speaks one wire. */
export const WIRES: readonly [Wire, ...Wire[]] = [
  { dialect: 'openai-chat', api: '@ai-sdk/openai-compatible', path: '/v1' },
  { dialect: 'claude', api: '@ai-sdk/anthropic', path: '/v1' },
  { dialect: 'openai-responses', api: '@ai-sdk/openai', path: '/v1' },
  { dialect: 'gemini', api: '@ai-sdk/google', path: '/v1beta' },
];

const PROVIDER = 'abp';
const INSTRUCTIONS_FILE = 'instructions.md';
const VARIANT = 'abp';
const TITLE = 'Agent Backplane';

/** `opencode run` prints whole parts and cannot be asked; ACP streams and asks. */
export function speaksAcp(plan: SpawnPlan): boolean {
  if (plan.interactive) return false;
  const { options, answerable } = plan;
  return answerable || options.nonInteractive === false || options.stream === true;
}

export function waitsFor(plan: SpawnPlan): WaitsFor {
  return speaksAcp(plan) && plan.answerable && plan.options.approvalMode === 'prompt' ? 'what-it-asks' : 'nothing';
}

/** The configuration of a run goes through the environment, above the user's own, which stays as it is; so does the session store. */
export function spawn(plan: SpawnPlan): SpawnSpec {
  const acp = speaksAcp(plan);
  const instructions = instructionsOf(plan.options);
  const config = configOf(plan);
  return {
    args: acp ? ['acp'] : runArgs(plan),
    env: {
      ...(Object.keys(config).length > 0 && { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) }),
      ...(plan.gateway !== undefined && QUIET),
    },
    files: instructions === '' ? {} : { [INSTRUCTIONS_FILE]: instructions },
    stdin: acp ? 'open' : 'closed',
    ...(!acp && !plan.interactive && { input: promptWithTexts(plan) }),
    pty: plan.interactive,
    thinking: thinkingDelivery(plan, acp),
    unhonoured: unhonouredBy(plan, acp),
  };
}

/** The caller's system prompt, which OpenCode appends to its own. */
function instructionsOf(options: RunOptions): string {
  const { before, after } = systemPromptOf(options);
  return [before, after].filter((text) => text !== undefined).join('\n\n');
}

const QUIET = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_SHARE: '1',
};

function runArgs(plan: SpawnPlan): readonly string[] {
  const { options, interactive } = plan;
  const model = modelArg(plan);
  const files = attachedFiles(plan.attachments).flatMap(({ path }) => ['-f', path]);
  return [
    ...(interactive ? [] : ['run', '--format', 'json', '--thinking']),
    ...(model === undefined ? [] : ['-m', model]),
    ...(thinkingWish(plan) === undefined || interactive ? [] : ['--variant', variantArg(plan)]),
    ...(options.approvalMode === 'yolo' ? ['--auto'] : []),
    ...sessionArgs(options),
    ...(interactive ? screenArgs(options) : [...titleArgs(options), ...files]),
  ];
}

function screenArgs(options: RunOptions): readonly string[] {
  return hasPrompt(options) ? [`--prompt=${promptText(options)}`] : [];
}

/** A title that is given is one that no model has to be asked for. It is not the prompt: arguments can be read by others. */
function titleArgs(options: RunOptions): readonly string[] {
  const isNew = options.sessionId === undefined && options.forkSessionId === undefined;
  return isNew ? ['--title', TITLE] : [];
}

function modelArg(plan: SpawnPlan): string | undefined {
  return plan.gateway === undefined ? (plan.model?.cliArgValue ?? plan.modelId) : `${PROVIDER}/${wireModel(plan)}`;
}

/** With our own provider the variant is ours; otherwise the agent's catalogue has variants named like levels. */
function variantArg(plan: SpawnPlan): string {
  return plan.gateway === undefined ? (thinkingWish(plan)?.level ?? 'medium') : VARIANT;
}

function sessionArgs({ sessionId, forkSessionId }: RunOptions): readonly string[] {
  if (forkSessionId !== undefined) return ['-s', forkSessionId, '--fork'];
  return sessionId === undefined ? [] : ['-s', sessionId];
}

function configOf(plan: SpawnPlan): JsonObject {
  const { options } = plan;
  const { replace } = systemPromptOf(options);
  const permission = permissionOf(options);
  const build = { ...(replace !== undefined && { prompt: replace }), ...samplingOf(options), ...stepsOf(options) };
  const { mcpServers = [], skills = [] } = options;
  const model = modelArg(plan);
  return {
    ...(plan.gateway !== undefined && { provider: { [PROVIDER]: providerOf(plan) }, small_model: `${PROVIDER}/${wireModel(plan)}` }),
    ...(model !== undefined && { model }),
    ...(permission !== undefined && { permission }),
    ...(instructionsOf(options) !== '' && { instructions: [join(plan.runFolder, INSTRUCTIONS_FILE)] }),
    ...agentsOf(build, plan),
    ...(mcpServers.length > 0 && { mcp: Object.fromEntries(mcpServers.map((server) => [server.name, mcpOf(server)])) }),
    ...(skills.length > 0 && { skills: { paths: skills } }),
  };
}

/** The agent that works, as the run wants it; the one that only makes titles costs a model call. */
function agentsOf(build: JsonObject, plan: SpawnPlan): JsonObject {
  const agents = { ...(Object.keys(build).length > 0 && { build }), ...(plan.gateway !== undefined && { title: { disable: true } }) };
  return Object.keys(agents).length > 0 ? { agent: agents } : {};
}

function samplingOf({ temperature, topP }: RunOptions): JsonObject {
  return { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { top_p: topP }) };
}

function stepsOf({ maxTurns }: RunOptions): JsonObject {
  return maxTurns === undefined ? {} : { steps: maxTurns };
}

function providerOf(plan: SpawnPlan): JsonObject {
  if (plan.gateway === undefined) return {};
  const { api, baseUrl, dialect } = wireTo(plan.gateway, WIRES);
  const id = wireModel(plan);
  const wish = thinkingWish(plan);
  const { model } = plan;
  return {
    npm: api,
    name: 'Agent Backplane',
    options: { baseURL: baseUrl, apiKey: plan.gateway.key },
    models: {
      [id]: {
        name: model?.displayName ?? id,
        reasoning: model?.supportsThinking ?? true,
        tool_call: true,
        attachment: true,
        modalities: { input: ['text', 'image', 'pdf'], output: ['text'] },
        temperature: true,
        limit: { context: windowOf(plan), output: outputLimit(plan.options) ?? model?.maxOutputTokens ?? 32_000 },
        cost: {
          input: model?.inputPricePerMillion ?? 0,
          output: model?.outputPricePerMillion ?? 0,
          cache_read: model?.cachedInputPricePerMillion ?? 0,
        },
        ...(wish !== undefined && { options: variantOf(dialect, id, wish) }),
        variants: { ...NO_VARIANTS, ...(wish !== undefined && { [VARIANT]: variantOf(dialect, id, wish) }) },
      },
    },
  };
}

/** Over ACP the agent picks one of its own variants where there are any, and thinks although nobody asked for it. */
const NO_VARIANTS: JsonObject = Object.fromEntries(
  ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map((name) => [name, { disabled: true }]),
);

const READING = {
  read: 'allow',
  grep: 'allow',
  glob: 'allow',
  list: 'allow',
  lsp: 'allow',
  todowrite: 'allow',
  todoread: 'allow',
  skill: 'allow',
};

/** Without a word of the caller the user's own permissions hold. `ask` is refused by `opencode run`, where nobody can be asked. */
function permissionOf({ approvalMode }: RunOptions): JsonObject | undefined {
  if (approvalMode === 'deny') return { '*': 'deny', ...READING };
  return approvalMode === 'prompt' ? { '*': 'ask', ...READING } : undefined;
}

function mcpOf(server: McpServerConfig): JsonObject {
  if (server.transport !== 'stdio') return { type: 'remote', url: server.url, headers: server.headers ?? {}, enabled: true };
  return { type: 'local', command: [server.command, ...(server.args ?? [])], environment: server.env ?? {}, enabled: true };
}

function thinkingDelivery(plan: SpawnPlan, acp: boolean): ThinkingDelivery {
  const wish = thinkingWish(plan);
  if (wish === undefined) return NO_THINKING;
  if (plan.gateway !== undefined) {
    const { dialect } = wireTo(plan.gateway, WIRES);
    return { by: 'settings', detail: `options of the model: ${JSON.stringify(variantOf(dialect, wireModel(plan), wish))}` };
  }
  if (acp) return { by: 'none', detail: 'the agent takes a variant as a flag of `opencode run` only' };
  return { by: 'flag', detail: `--variant ${variantArg(plan)}` };
}

function unhonouredBy(plan: SpawnPlan, acp: boolean): Unhonoured {
  const { options } = plan;
  const wish = thinkingWish(plan);
  return [
    ...(options.systemPromptMode === 'prepend' && options.systemPrompt !== undefined
      ? [{ option: 'systemPromptMode', reason: 'the agent puts its own prompt first; the text follows it' }]
      : []),
    ...(wish !== undefined && plan.gateway === undefined && acp
      ? [{ option: 'thinkingEffort', reason: 'without the gateway a variant is a flag of `opencode run` only' }]
      : []),
    ...(wish?.budgetTokens !== undefined && plan.gateway === undefined && !acp
      ? [{ option: 'thinkingBudgetTokens', reason: `the agent takes variants; the nearest is ${wish.level}` }]
      : []),
    ...unknownOverrides(wish),
    ...unhonoured(options, {
      topK: 'the agent has no setting for it',
      ...(options.noSession === true && { noSession: 'the agent stores every session' }),
      ...(plan.gateway === undefined && { maxTokens: OWN_LIMIT, maxOutputTokens: OWN_LIMIT }),
    }),
  ];
}

const OWN_LIMIT = 'the limit stands in the agent’s own catalogue of models';
