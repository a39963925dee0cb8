import { join } from 'node:path';
import { gte } from 'semver';
import type { JsonObject } from '../../base/json.ts';
import type { McpServerConfig, RunOptions } from '../../contract/runs/run-options.ts';
import type { GatewayRoute, SpawnPlan, SpawnSpec, ThinkingDelivery, WaitsFor } from '../adapter.ts';
import { promptText, systemPromptOf } from '../families/launch/prompt.ts';
import { namedSkills, skillPaths } from '../families/launch/skills.ts';
import { NO_THINKING, thinkingWish, type Unhonoured } from '../families/launch/thinking.ts';
import { outputLimit } from '../families/launch/unhonoured.ts';

const SETTINGS_FILE = 'claude-settings.json';
const MCP_FILE = 'claude-mcp.json';
const SYSTEM_FILE = 'claude-system-prompt.md';
const APPEND_FILE = 'claude-append-system-prompt.md';
/** The first measured version that keeps the system prompt of a session's first request unless told otherwise. */
const SNAPSHOTS_SINCE = '2.1.325';

/**
 * The user's configuration folder stays: the login and the sessions are there. What the run adds stands in a settings file of its own,
 * which outranks the user's and the project's settings, and in the environment.
 */
export function spawn(plan: SpawnPlan): SpawnSpec {
  const { options } = plan;
  const files = filesOf(plan);
  return {
    args: [
      ...(plan.interactive ? [] : BATCH_ARGS),
      ...(asks(plan) ? ['--permission-prompt-tool', 'stdio'] : []),
      ...approvalArgs(options),
      ...modelArgs(plan),
      ...thinkingArgs(plan),
      ...sessionArgs(plan),
      ...limitArgs(options),
      ...toolArgs(plan),
      ...fileArgs(plan, files),
      ...skillPaths(options).flatMap((path) => ['--plugin-dir', path]),
      ...(plan.interactive && promptText(options).trim() !== '' ? ['--', promptText(options)] : []),
    ],
    env: environmentOf(plan),
    files,
    stdin: plan.interactive ? 'closed' : 'open',
    pty: plan.interactive,
    thinking: thinkingDelivery(plan),
    unhonoured: unhonouredBy(plan),
  };
}

/** The prompt goes through standard input: it may be long, hold images, and is nobody else's to read in a process list. */
const BATCH_ARGS = [
  '--print',
  '--output-format',
  'stream-json',
  '--input-format',
  'stream-json',
  '--verbose',
  '--include-partial-messages',
  // Each message of ours comes back when the model gets it: so it is known whether an answer was the last one.
  '--replay-user-messages',
] as const;

/** Somebody answers the agent's questions over its standard input. */
function asks({ options, answerable, interactive }: SpawnPlan): boolean {
  return answerable && !interactive && (options.approvalMode ?? 'prompt') === 'prompt';
}

/** A hook is registered over the control protocol and sees every tool, whatever the approval mode. */
export function waitsFor(plan: SpawnPlan): WaitsFor {
  if (plan.watched === true && !plan.interactive) return 'every-tool';
  return asks(plan) ? 'what-it-asks' : 'nothing';
}

function approvalArgs({ approvalMode = 'prompt' }: RunOptions): readonly string[] {
  if (approvalMode === 'yolo') return ['--dangerously-skip-permissions'];
  return ['--permission-mode', approvalMode === 'deny' ? 'dontAsk' : 'default'];
}

function modelArgs(plan: SpawnPlan): readonly string[] {
  const model = plan.model?.cliArgValue ?? plan.modelId;
  return model === undefined ? [] : ['--model', model];
}

function thinkingArgs(plan: SpawnPlan): readonly string[] {
  const effort = effortOf(plan);
  return effort === undefined ? [] : ['--effort', effort];
}

function sessionArgs({ options, version, interactive }: SpawnPlan): readonly string[] {
  const earlier = options.sessionId ?? options.forkSessionId;
  const renewed = earlier !== undefined && Object.keys(systemPromptOf(options)).length > 0;
  return [
    ...(earlier === undefined ? [] : ['--resume', earlier]),
    ...(options.forkSessionId === undefined ? [] : ['--fork-session']),
    ...(options.noSession === true && !interactive ? ['--no-session-persistence'] : []),
    ...(renewed && version !== undefined && gte(version, SNAPSHOTS_SINCE) ? ['--system-prompt-snapshot', 'off'] : []),
  ];
}

/** The last one makes the agent answer through a tool of its own, which is its form of JSON mode. */
function limitArgs({ maxTurns, maxBudgetUsd, outputFormat }: RunOptions): readonly string[] {
  return [
    ...(maxTurns === undefined ? [] : ['--max-turns', String(maxTurns)]),
    ...(maxBudgetUsd === undefined ? [] : ['--max-budget-usd', String(maxBudgetUsd)]),
    ...(outputFormat === 'json' ? ['--json-schema', JSON.stringify({ type: 'object', additionalProperties: true })] : []),
  ];
}

/** Names that do not exist are ignored by the agent; one that exists is then not offered to the model, and refused when it is called. */
function toolArgs({ tools }: SpawnPlan): readonly string[] {
  if (tools === undefined) return [];
  const { allowed, denied } = tools;
  return [
    ...(allowed.length === 0 ? [] : [`--tools=${allowed.join(',')}`]),
    ...(denied.length === 0 ? [] : [`--disallowedTools=${denied.join(',')}`]),
  ];
}

const FILE_FLAGS: Readonly<Record<string, string>> = {
  [SETTINGS_FILE]: '--settings',
  [MCP_FILE]: '--mcp-config',
  [SYSTEM_FILE]: '--system-prompt-file',
  [APPEND_FILE]: '--append-system-prompt-file',
};

function fileArgs({ runFolder }: SpawnPlan, files: SpawnSpec['files']): readonly string[] {
  return Object.entries(FILE_FLAGS).flatMap(([file, flag]) => (file in files ? [flag, join(runFolder, file)] : []));
}

function filesOf(plan: SpawnPlan): SpawnSpec['files'] {
  const { options } = plan;
  const { replace, before, after } = systemPromptOf(options);
  const names = namedSkills(options);
  const skills = names.length === 0 ? undefined : `Use these skills where they fit: ${names.join(', ')}.`;
  const appended = [before, after, skills].filter((text) => text !== undefined).join('\n\n');
  const env = environmentOf(plan);
  const servers = options.mcpServers ?? [];
  return {
    ...(Object.keys(env).length > 0 && { [SETTINGS_FILE]: JSON.stringify({ env, ...keyless(plan), ...unnested(plan) }) }),
    ...(servers.length > 0 && { [MCP_FILE]: JSON.stringify({ mcpServers: Object.fromEntries(servers.map(mcpServer)) }) }),
    ...(replace !== undefined && { [SYSTEM_FILE]: replace }),
    ...(appended !== '' && { [APPEND_FILE]: appended }),
  };
}

/** A project can turn the agent's own sandbox on, which does not work inside another one. */
function unnested({ confined }: SpawnPlan): JsonObject {
  return confined === true ? { sandbox: { enabled: false } } : {};
}

/** A command of the user that prints a key would be run, and its key sent beside ours. */
function keyless({ gateway }: SpawnPlan): JsonObject {
  return gateway === undefined || gateway.ownLogin === true ? {} : { apiKeyHelper: '' };
}

function mcpServer(server: McpServerConfig): readonly [string, JsonObject] {
  if (server.transport === 'stdio') {
    const { command, args = [], env = {} } = server;
    return [server.name, { type: 'stdio', command, args, env }];
  }
  return [server.name, { type: server.transport === 'sse' ? 'sse' : 'http', url: server.url, headers: server.headers ?? {} }];
}

function environmentOf(plan: SpawnPlan): Readonly<Record<string, string>> {
  const { gateway, options } = plan;
  const budget = budgetOf(plan);
  const limit = outputLimit(options) ?? roomFor(plan, budget);
  const extra = extraBody(plan);
  return {
    ...(gateway !== undefined && {
      ANTHROPIC_BASE_URL: `${gateway.origin}/e/${gateway.engine}`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    // Tools that the agent holds back until the model searches for them exist on Claude itself only.
    ...(gateway !== undefined && !isClaude(gateway) && { ENABLE_TOOL_SEARCH: 'false' }),
    // A token, not an API key: about a key the agent asks its user first, and a token outranks a login.
    ...(gateway !== undefined && gateway.ownLogin !== true && { ANTHROPIC_AUTH_TOKEN: gateway.key }),
    ...(budget !== undefined && { MAX_THINKING_TOKENS: String(budget) }),
    ...(limit !== undefined && { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(limit) }),
    ...(Object.keys(extra).length > 0 && { CLAUDE_CODE_EXTRA_BODY: JSON.stringify(extra) }),
    ...windowEnv(plan),
    // Without it the agent refuses to skip permissions for root.
    ...(options.approvalMode === 'yolo' && { IS_SANDBOX: '1' }),
  };
}

/**
 * The agent takes a model that it does not know for one with 200,000 tokens, some names for one with a million, and would fill more
 * than there is before it compacts.
 */
function windowEnv({ gateway }: SpawnPlan): Readonly<Record<string, string>> {
  const window = gateway?.contextWindow;
  if (window === undefined) return {};
  return { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(window), CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(window) };
}

function isClaude({ engine }: GatewayRoute): boolean {
  return engine === 'claude';
}

/** Members that the agent puts into every request as they are: sampling, and thinking parameters it has no other way for. */
function extraBody({ options, thinking }: SpawnPlan): JsonObject {
  const { temperature, topP, topK } = options;
  const unknown = new Set(thinkingUnknown(options));
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
    ...Object.fromEntries(Object.entries(thinking).filter(([name]) => unknown.has(name))),
  };
}

function thinkingUnknown(options: RunOptions): readonly string[] {
  return Object.keys(options.thinkingOverride ?? {}).filter((name) => name !== 'budget_tokens' && name !== 'effort');
}

/** The level that was asked for, or the nearest to a budget; an override may name one that only this agent has. */
function effortOf(plan: SpawnPlan): string | undefined {
  const { thinkingEffort, thinkingBudgetTokens } = plan.options;
  if (typeof plan.thinking.effort === 'string') return plan.thinking.effort;
  const asked = thinkingEffort !== undefined || thinkingBudgetTokens !== undefined || budgetOf(plan) !== undefined;
  return asked ? thinkingWish(plan)?.level : undefined;
}

/** The agent cuts a budget to what its default length of an answer leaves, which is 32,000 tokens on models that take a budget. */
function roomFor({ model }: SpawnPlan, budget: number | undefined): number | undefined {
  if (budget === undefined || budget < 32_000 || model === undefined) return undefined;
  return model.maxOutputTokens > budget ? model.maxOutputTokens : undefined;
}

function budgetOf({ thinking }: SpawnPlan): number | undefined {
  const budget = thinking.budget_tokens;
  return typeof budget === 'number' ? budget : undefined;
}

/** A model takes a budget or an effort, never both, and the agent leaves out what its model does not take. */
function takesBudget({ model }: SpawnPlan): boolean {
  return model === undefined || model.thinkingBudgetRange !== undefined;
}

function thinkingDelivery(plan: SpawnPlan): ThinkingDelivery {
  const effort = effortOf(plan);
  if (effort === undefined) return NO_THINKING;
  const budget = budgetOf(plan);
  const variable = budget === undefined ? '' : `; MAX_THINKING_TOKENS=${budget} for models that take a budget`;
  return { by: 'flag', detail: `--effort ${effort}${variable}` };
}

function unhonouredBy(plan: SpawnPlan): Unhonoured {
  const { options } = plan;
  const wish = thinkingWish(plan);
  return [
    ...(systemPromptOf(options).before === undefined
      ? []
      : [{ option: 'systemPromptMode', reason: 'the agent has no place before its own prompt; the text stands after it' }]),
    ...(wish?.budgetTokens !== undefined && !takesBudget(plan)
      ? [{ option: 'thinkingBudgetTokens', reason: `the model takes an effort; the nearest is ${wish.level}` }]
      : []),
  ];
}
