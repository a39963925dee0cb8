import { join } from 'node:path';
import type { JsonObject } from '../../base/json.ts';
import type { McpServerConfig, RunOptions } from '../../contract/runs/run-options.ts';
import type { SpawnPlan, SpawnSpec, ThinkingDelivery, WaitsFor } from '../adapter.ts';
import { attachedFiles } from '../attachments.ts';
import { promptWithTexts, systemPromptOf } from '../families/launch/prompt.ts';
import { NO_THINKING, type Unhonoured } from '../families/launch/thinking.ts';
import { outputLimit, unhonoured } from '../families/launch/unhonoured.ts';
import { type Wire, wireModel, wireTo } from '../families/launch/wire.ts';

/** The wires that the agent speaks to a provider of the user's own. */
export const WIRES: readonly [Wire, ...Wire[]] = [
  { dialect: 'openai-chat', api: 'completions', path: '/v1' },
  { dialect: 'openai-responses', api: 'responses', path: '/v1' },
  { dialect: 'claude', api: 'anthropic', path: '' },
];

const MCP_FILE = 'copilot-mcp.json';
const INSTRUCTIONS_FOLDER = 'copilot-instructions';
/** The one place in a folder of instructions that is read wherever the run works. */
const INSTRUCTIONS_FILE = `${INSTRUCTIONS_FOLDER}/.github/instructions/run.instructions.md`;

/** Whether the run is held over ACP: somebody answers. */
export function speaksAcp(plan: SpawnPlan): boolean {
  const { options, interactive } = plan;
  if (interactive) return false;
  return asks(plan) || options.nonInteractive === false;
}

/** Somebody answers the agent's questions, which it asks over ACP only. */
function asks({ options, answerable, interactive }: SpawnPlan): boolean {
  return answerable && !interactive && (options.approvalMode ?? 'prompt') === 'prompt';
}

export function waitsFor(plan: SpawnPlan): WaitsFor {
  return asks(plan) ? 'what-it-asks' : 'nothing';
}

/** The user's configuration folder stays, with login and sessions; what the run adds are arguments and variables. */
export function spawn(plan: SpawnPlan): SpawnSpec {
  const { options, interactive } = plan;
  const acp = speaksAcp(plan);
  const files = filesOf(options);
  return {
    args: [
      ...(acp ? ['--acp'] : []),
      ...(acp || interactive ? [] : ['--output-format', 'json', '--no-color', '--no-ask-user']),
      ...(plan.gateway === undefined ? [] : ['--no-auto-update', '--disable-client-telemetry']),
      ...approvalArgs(plan),
      ...modelArgs(plan),
      ...thinkingArgs(plan),
      ...(options.sessionId === undefined || acp ? [] : [`--resume=${options.sessionId}`]),
      ...(MCP_FILE in files ? ['--additional-mcp-config', `@${join(plan.runFolder, MCP_FILE)}`] : []),
      ...(acp ? [] : promptArgs(plan)),
    ],
    env: environmentOf(plan, files),
    files,
    stdin: acp ? 'open' : 'closed',
    ...(!acp && !interactive && { input: promptWithTexts(plan) }),
    pty: interactive,
    thinking: thinkingDelivery(plan),
    unhonoured: unhonouredBy(plan),
  };
}

/** Without an answer the agent refuses by itself what it would have to ask for. */
function approvalArgs({ options }: SpawnPlan): readonly string[] {
  if (options.approvalMode === 'yolo') return ['--allow-all'];
  return options.approvalMode === 'deny' ? ['--deny-tool=shell', '--deny-tool=write'] : [];
}

/** With our gateway the model is a variable, because it need not be one of the agent's own. */
function modelArgs(plan: SpawnPlan): readonly string[] {
  const model = plan.model?.cliArgValue ?? plan.modelId;
  return plan.gateway !== undefined || model === undefined ? [] : ['--model', model];
}

function thinkingArgs(plan: SpawnPlan): readonly string[] {
  const effort = effortOf(plan);
  return effort === undefined ? [] : ['--reasoning-effort', effort];
}

/** The prompt of a run goes through standard input; the agent's own screen takes it as an argument. */
function promptArgs(plan: SpawnPlan): readonly string[] {
  const files = attachedFiles(plan.attachments).flatMap(({ path }) => ['--attachment', path]);
  const text = promptWithTexts(plan);
  return plan.interactive && text.trim() !== '' ? [...files, `--interactive=${text}`] : files;
}

function filesOf(options: RunOptions): SpawnSpec['files'] {
  const { replace, before, after } = systemPromptOf(options);
  const added = [replace, before, after].filter((text) => text !== undefined).join('\n\n');
  const servers = options.mcpServers ?? [];
  return {
    ...(servers.length > 0 && { [MCP_FILE]: JSON.stringify({ mcpServers: Object.fromEntries(servers.map(mcpServer)) }) }),
    ...(added !== '' && { [INSTRUCTIONS_FILE]: `---\napplyTo: "**"\n---\n${added}\n` }),
  };
}

function mcpServer(server: McpServerConfig): readonly [string, JsonObject] {
  if (server.transport === 'stdio') {
    const { command, args = [], env = {} } = server;
    return [server.name, { type: 'local', command, args, env, tools: ['*'] }];
  }
  const type = server.transport === 'sse' ? 'sse' : 'http';
  return [server.name, { type, url: server.url, headers: server.headers ?? {}, tools: ['*'] }];
}

function environmentOf(plan: SpawnPlan, files: SpawnSpec['files']): Readonly<Record<string, string>> {
  const { gateway, options, runFolder } = plan;
  return {
    ...(INSTRUCTIONS_FILE in files && { COPILOT_CUSTOM_INSTRUCTIONS_DIRS: join(runFolder, INSTRUCTIONS_FOLDER) }),
    ...(gateway !== undefined && providerOf(plan, gateway, outputLimit(options))),
  };
}

function providerOf(
  plan: SpawnPlan,
  gateway: NonNullable<SpawnPlan['gateway']>,
  limit: number | undefined,
): Readonly<Record<string, string>> {
  const { api, baseUrl } = wireTo(gateway, WIRES);
  return {
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: baseUrl,
    COPILOT_PROVIDER_API_KEY: gateway.key,
    COPILOT_MODEL: wireModel(plan),
    COPILOT_PROVIDER_TYPE: api === 'anthropic' ? 'anthropic' : 'openai',
    ...(api !== 'anthropic' && { COPILOT_PROVIDER_WIRE_API: api }),
    ...(limit !== undefined && { COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: String(limit) }),
  };
}

function effortOf({ thinking }: SpawnPlan): string | undefined {
  const effort = thinking.reasoning_effort ?? thinking.effort;
  return typeof effort === 'string' ? effort : undefined;
}

function thinkingDelivery(plan: SpawnPlan): ThinkingDelivery {
  const effort = effortOf(plan);
  return effort === undefined ? NO_THINKING : { by: 'flag', detail: `--reasoning-effort ${effort}` };
}

const NO_SETTING = 'the agent has no setting for it';

function unhonouredBy({ options, gateway, thinking }: SpawnPlan): Unhonoured {
  const { replace, before } = systemPromptOf(options);
  const moved = replace !== undefined || before !== undefined;
  return [
    ...(moved ? [{ option: 'systemPromptMode', reason: 'the agent takes instructions beside its own prompt only' }] : []),
    ...Object.keys(thinking)
      .filter((name) => name !== 'reasoning_effort' && name !== 'effort')
      .map((name) => ({ option: `thinkingOverride.${name}`, reason: 'the agent has no such parameter' })),
    ...unhonoured(options, {
      temperature: NO_SETTING,
      topP: NO_SETTING,
      topK: NO_SETTING,
      ...(gateway === undefined && { maxTokens: NO_SETTING, maxOutputTokens: NO_SETTING }),
      noSession: 'the agent keeps every session',
      skills: 'the agent takes skills from its own folders only',
    }),
    ...(options.outputFormat === 'json' ? [{ option: 'outputFormat', reason: NO_SETTING }] : []),
  ];
}
