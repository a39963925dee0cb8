import { join } from 'node:path';
import type { JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { McpServerConfig, RunOptions } from '../../contract/runs/run-options.ts';
import type { SpawnPlan, SpawnSpec, ThinkingDelivery } from '../adapter.ts';
import { declaredModel } from '../families/launch/declared-model.ts';
import { hasPrompt, promptWithTexts } from '../families/launch/prompt.ts';
import { NO_THINKING, type ThinkingWish, thinkingWish, type Unhonoured, unknownOverrides } from '../families/launch/thinking.ts';
import { outputLimit, unhonoured } from '../families/launch/unhonoured.ts';
import { KEY_VARIABLE, type Wire, wireModel, wireTo } from '../families/launch/wire.ts';

export const WIRES: readonly [Wire, ...Wire[]] = [
  { dialect: 'openai-chat', api: 'openai-completions', path: '/v1' },
  { dialect: 'claude', api: 'anthropic-messages', path: '' },
  { dialect: 'openai-responses', api: 'openai-responses', path: '/v1' },
  { dialect: 'gemini', api: 'google-generative-ai', path: '/v1beta' },
];

const PROVIDER = 'abp';
const CONFIG_FILE = 'openclaw.json';
const PROMPT_FILE = 'prompt.md';
const STATE_FOLDER = 'openclaw-state';
const HIGHEST = 'xhigh';
/** The agent ends itself after ten minutes unless told otherwise; the time of a run is ours to watch. */
const ONE_DAY_S = '86400';

/** One embedded turn, without the agent's own gateway. Its state is a folder that it makes and removes, so the user's stays as it is. */
export function spawn(plan: SpawnPlan): SpawnSpec {
  const config = configOf(plan);
  if (plan.interactive) return interactive(plan, config);
  const model = plan.gateway === undefined ? (plan.model?.cliArgValue ?? plan.modelId) : `${PROVIDER}/${wireModel(plan)}`;
  const wish = thinkingWish(plan);
  return {
    args: [
      ...['agent', 'exec', '--json', '--code-mode', 'direct', '--timeout', ONE_DAY_S, '--cwd', plan.cwd],
      ...['--message-file', join(plan.runFolder, PROMPT_FILE)],
      ...(config === undefined ? [] : ['--config', join(plan.runFolder, CONFIG_FILE)]),
      ...(model === undefined ? [] : ['--model', model]),
      ...(wish === undefined ? [] : ['--thinking', levelOf(plan, wish)]),
    ],
    env: envOf(plan),
    files: { [PROMPT_FILE]: promptOf(plan), ...(config !== undefined && { [CONFIG_FILE]: JSON.stringify(config, null, 2) }) },
    stdin: 'closed',
    pty: false,
    thinking: thinkingDelivery(plan),
    unhonoured: unhonouredBy(plan),
  };
}

/** The agent's own screen. Its state is the run's as well: it copies providers and their keys into the state it finds. */
function interactive(plan: SpawnPlan, config: JsonObject | undefined): SpawnSpec {
  return {
    args: ['tui', '--local', ...(hasPrompt(plan.options) ? [`--message=${promptOf(plan)}`] : [])],
    env: {
      ...envOf(plan),
      ...(config !== undefined && {
        OPENCLAW_CONFIG_PATH: join(plan.runFolder, CONFIG_FILE),
        OPENCLAW_STATE_DIR: join(plan.runFolder, STATE_FOLDER),
      }),
    },
    files: config === undefined ? {} : { [CONFIG_FILE]: JSON.stringify(config, null, 2) },
    stdin: 'open',
    pty: true,
    thinking: NO_THINKING,
    unhonoured: unhonouredBy(plan),
  };
}

function envOf({ gateway }: SpawnPlan): Readonly<Record<string, string>> {
  return gateway === undefined ? {} : { [KEY_VARIABLE]: gateway.key };
}

/** The agent owns its system prompt, so what belongs there stands before the prompt. */
function promptOf(plan: SpawnPlan): string {
  const { systemPrompt, agentsDoc } = plan.options;
  const before = [systemPrompt, agentsDoc].filter((text) => text !== undefined);
  return [...before, promptWithTexts(plan)].join('\n\n');
}

/** A file of configuration takes the place of the user's own, so there is one only when the models are ours too. */
function configOf(plan: SpawnPlan): JsonObject | undefined {
  const { options, gateway } = plan;
  if (gateway === undefined) return direct(options);
  const { mcpServers = [], skills = [] } = options;
  return {
    models: { providers: { [PROVIDER]: providerOf(plan) } },
    agents: {
      defaults: {
        model: { primary: `${PROVIDER}/${wireModel(plan)}` },
        // By itself its screen works in a folder of its own, which it fills with files about itself.
        ...(plan.interactive && { workspace: plan.cwd, skipBootstrap: true }),
      },
    },
    ...toolsOf(plan),
    ...(mcpServers.length > 0 && { mcp: { servers: Object.fromEntries(mcpServers.map((server) => [server.name, mcpOf(server)])) } }),
    ...(skills.length > 0 && { skills: { load: { extraDirs: skills } } }),
  };
}

/**
 * By itself the agent offers few tools by name, and the rest, those of MCP servers too, through `tool_search` and `tool_call`. Rules about
 * tools go by names, so all are offered by their own where there are rules.
 */
function toolsOf({ options, tools }: SpawnPlan): JsonObject {
  const settings = { ...(mustRefuse(options) && { allow: READING }), ...(tools !== undefined && { toolSearch: false }) };
  return Object.keys(settings).length === 0 ? {} : { tools: settings };
}

/** Tools that change nothing and reach nobody. */
const READING: readonly string[] = ['read', 'ls'];

function mustRefuse({ approvalMode }: RunOptions): boolean {
  return approvalMode === 'deny' || approvalMode === 'prompt';
}

function direct(options: RunOptions): undefined {
  if (!mustRefuse(options)) return undefined;
  const message =
    'openclaw can be kept from changing things only by a configuration that takes the place of your own: leave out --direct, or use approval yolo';
  throw new AbpError('invalid_request', message);
}

function providerOf(plan: SpawnPlan): JsonObject {
  if (plan.gateway === undefined) return {};
  const { api, baseUrl } = wireTo(plan.gateway, WIRES);
  return {
    baseUrl,
    api,
    apiKey: `\${${KEY_VARIABLE}}`,
    models: [
      {
        ...declaredModel(plan, outputLimit(plan.options)),
        compat: { supportsReasoningEffort: true, supportedReasoningEfforts: ['minimal', 'low', 'medium', 'high', 'xhigh'] },
      },
    ],
  };
}

function mcpOf(server: McpServerConfig): JsonObject {
  if (server.transport !== 'stdio') return { url: server.url, headers: server.headers ?? {}, transport: server.transport };
  return { command: server.command, args: server.args ?? [], env: server.env ?? {} };
}

function thinkingDelivery(plan: SpawnPlan): ThinkingDelivery {
  const wish = thinkingWish(plan);
  if (wish === undefined) return NO_THINKING;
  return { by: 'flag', detail: `--thinking ${levelOf(plan, wish)}` };
}

/** The agent refuses its highest level for models that it speaks Anthropic's wire with; `high` is the most that all of those take. */
function levelOf(plan: SpawnPlan, { level }: ThinkingWish): string {
  if (level !== 'max') return level;
  return isAnthropic(plan) ? 'high' : HIGHEST;
}

function isAnthropic({ gateway, model, modelId = '' }: SpawnPlan): boolean {
  if (gateway !== undefined) return wireTo(gateway, WIRES).dialect === 'claude';
  return (model?.provider ?? modelId.split('/')[0]) === 'anthropic';
}

function unhonouredBy(plan: SpawnPlan): Unhonoured {
  const { options } = plan;
  const own = 'the agent has no flag for it; its own configuration holds';
  const wish = thinkingWish(plan);
  return [
    ...(wish?.budgetTokens === undefined
      ? []
      : [{ option: 'thinkingBudgetTokens', reason: `the agent takes levels; the nearest is ${wish.level}` }]),
    ...(wish?.level === 'max' && isAnthropic(plan)
      ? [{ option: 'thinkingEffort', reason: 'the agent has no level above high for models of Anthropic' }]
      : []),
    ...unknownOverrides(wish),
    ...(options.approvalMode === 'prompt'
      ? [{ option: 'approvalMode', reason: 'nobody can be asked in a one-shot run: tools that change something are not offered' }]
      : []),
    ...unhonoured(options, {
      systemPrompt: 'the agent owns its system prompt; the text stands before the prompt',
      agentsDoc: 'the agent owns its system prompt; the text stands before the prompt',
      temperature: 'the agent has no setting for it',
      topP: 'the agent has no setting for it',
      topK: 'the agent has no setting for it',
      maxTurns: 'the agent tells its turns at the end only',
      ...(plan.gateway === undefined && { mcpServers: own, skills: own, maxTokens: own, maxOutputTokens: own }),
    }),
  ];
}
