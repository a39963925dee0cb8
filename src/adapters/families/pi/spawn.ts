import { join } from 'node:path';
import type { JsonObject } from '../../../base/json.ts';
import type { McpServerConfig, RunOptions } from '../../../contract/runs/run-options.ts';
import type { SpawnPlan, SpawnSpec, ThinkingDelivery, WaitsFor } from '../../adapter.ts';
import { attachedFiles } from '../../attachments.ts';
import { declaredModel } from '../launch/declared-model.ts';
import { hasPrompt, promptWithTexts, systemPromptOf } from '../launch/prompt.ts';
import { NO_THINKING, type ThinkingWish, thinkingWish, type Unhonoured, unknownOverrides } from '../launch/thinking.ts';
import { outputLimit, unhonoured } from '../launch/unhonoured.ts';
import { KEY_VARIABLE, type Wire, wireModel, wireTo } from '../launch/wire.ts';
import { type ExtensionSettings, extensionText } from './extension.ts';

/** Where two agents of one origin differ. */
export interface PiKind {
  /** How the extension names a variable that holds a key. */
  readonly keyReference: (variable: string) => string;
  /** The flag that opens an earlier session. */
  readonly resumeFlag: string;
  readonly levels: Readonly<Record<ThinkingWish['level'], string>>;
  /** Tools that change nothing. */
  readonly readOnlyTools: readonly string[];
  /** Flags of every run that is not the agent's own screen. */
  readonly batchArgs: readonly string[];
  /** Turns off what is not the run: updates, telemetry, catalogues. */
  readonly quietEnv: Readonly<Record<string, string>>;
}

export const PI_WIRES: readonly [Wire, ...Wire[]] = [
  { dialect: 'openai-chat', api: 'openai-completions', path: '/v1' },
  { dialect: 'claude', api: 'anthropic-messages', path: '' },
  { dialect: 'openai-responses', api: 'openai-responses', path: '/v1' },
  { dialect: 'gemini', api: 'google-generative-ai', path: '/v1beta' },
];

/** Wires whose highest level the agent can send; on the others it goes up to high. */
const HAS_HIGHEST: readonly string[] = ['openai-completions', 'openai-responses'];

const PROVIDER = 'abp';
const EXTENSION_FILE = 'abp-extension.js';
const SYSTEM_FILE = 'system-prompt.md';
const APPEND_FILE = 'append-system-prompt.md';

/** Whether the run is held over standard input: somebody may speak to it. */
export function speaksRpc(plan: SpawnPlan): boolean {
  if (plan.interactive) return false;
  return plan.answerable || plan.watched === true || plan.options.nonInteractive === false;
}

/** The extension of the run asks, about every tool where a hook is to decide. */
export function piWaitsFor(plan: SpawnPlan): WaitsFor {
  if (plan.watched === true && !plan.interactive) return 'every-tool';
  return plan.answerable && !plan.interactive && plan.options.approvalMode === 'prompt' ? 'what-it-asks' : 'nothing';
}

/** Starts an agent of the family. Its own configuration and session store stay where they are; an extension file of the run adds the rest. */
export function piSpawn(kind: PiKind, plan: SpawnPlan): SpawnSpec {
  const rpc = speaksRpc(plan);
  const extension = extensionText(settingsOf(kind, plan));
  return {
    args: [
      ...modeArgs(kind, plan, rpc),
      ...(extension === undefined ? [] : ['-e', join(plan.runFolder, EXTENSION_FILE)]),
      ...modelArgs(plan),
      ...thinkingArgs(kind, plan),
      ...sessionArgs(kind, plan.options),
      ...(plan.options.approvalMode === 'deny' ? ['--tools', kind.readOnlyTools.join(',')] : []),
      ...systemPromptArgs(plan),
      ...(rpc ? [] : promptArgs(plan)),
    ],
    env: plan.gateway === undefined ? {} : { [KEY_VARIABLE]: plan.gateway.key, ...kind.quietEnv },
    files: filesOf(plan, extension),
    stdin: rpc ? 'open' : 'closed',
    ...(!rpc && !plan.interactive && { input: promptOf(plan) }),
    pty: plan.interactive,
    thinking: thinkingDelivery(kind, plan),
    unhonoured: unhonouredBy(plan),
  };
}

function modeArgs(kind: PiKind, plan: SpawnPlan, rpc: boolean): readonly string[] {
  if (plan.interactive) return [];
  return [...(rpc ? ['--mode', 'rpc'] : ['-p', '--mode', 'json']), ...kind.batchArgs];
}

function modelArgs(plan: SpawnPlan): readonly string[] {
  if (plan.gateway !== undefined) return ['--model', `${PROVIDER}/${wireModel(plan)}`];
  const model = plan.model?.cliArgValue ?? plan.modelId;
  return model === undefined ? [] : ['--model', model];
}

function thinkingArgs(kind: PiKind, plan: SpawnPlan): readonly string[] {
  const wish = thinkingWish(plan);
  return wish === undefined ? [] : ['--thinking', kind.levels[reachableLevel(plan, wish)]];
}

function reachableLevel(plan: SpawnPlan, wish: ThinkingWish): ThinkingWish['level'] {
  if (plan.gateway === undefined || HAS_HIGHEST.includes(wireTo(plan.gateway, PI_WIRES).api)) return wish.level;
  return wish.level === 'max' ? 'high' : wish.level;
}

function sessionArgs(kind: PiKind, options: RunOptions): readonly string[] {
  if (options.sessionId !== undefined) return [kind.resumeFlag, options.sessionId];
  if (options.forkSessionId !== undefined) return ['--fork', options.forkSessionId];
  return options.noSession === true ? ['--no-session'] : [];
}

/** The flags take a text or the name of a file, and a text may look like a name or like another flag. */
function systemPromptArgs({ options, runFolder }: SpawnPlan): readonly string[] {
  const { replace, after } = systemPromptOf(options);
  return [
    ...(replace === undefined ? [] : ['--system-prompt', join(runFolder, SYSTEM_FILE)]),
    ...(after === undefined ? [] : ['--append-system-prompt', join(runFolder, APPEND_FILE)]),
  ];
}

function filesOf(plan: SpawnPlan, extension: string | undefined): SpawnSpec['files'] {
  const { replace, after } = systemPromptOf(plan.options);
  return {
    ...(extension !== undefined && { [EXTENSION_FILE]: extension }),
    ...(replace !== undefined && { [SYSTEM_FILE]: replace }),
    ...(after !== undefined && { [APPEND_FILE]: after }),
  };
}

/** The prompt of a run goes through standard input; the agent's own screen takes it as an argument. */
function promptArgs(plan: SpawnPlan): readonly string[] {
  const files = attachedFiles(plan.attachments).map(({ path }) => `@${path}`);
  const prompt = plan.interactive && hasPrompt(plan.options) ? [promptOf(plan)] : [];
  return files.length + prompt.length === 0 ? [] : ['--', ...files, ...prompt];
}

/** A word that begins with @ names a file to include, so a prompt that does so gets a space before it. */
function promptOf(plan: SpawnPlan): string {
  const prompt = promptWithTexts(plan);
  return prompt.startsWith('@') ? ` ${prompt}` : prompt;
}

function settingsOf(kind: PiKind, plan: SpawnPlan): ExtensionSettings {
  const { options } = plan;
  const { before } = systemPromptOf(options);
  const payload = payloadOf(options);
  const servers = options.mcpServers?.filter(({ transport }) => transport !== 'sse') ?? [];
  return {
    ...(plan.gateway !== undefined && { provider: { name: PROVIDER, config: providerOf(kind, plan) } }),
    ...(payload !== undefined && { payload }),
    ...(before !== undefined && { systemPromptBefore: before }),
    ...(options.skills !== undefined && options.skills.length > 0 && { skillPaths: options.skills }),
    ...(servers.length > 0 && { mcpServers: Object.fromEntries(servers.map(mcpServer)) }),
    ...(piWaitsFor(plan) === 'every-tool' && { watched: true }),
    ...(options.approvalMode === 'prompt' && { gate: plan.answerable ? 'ask' : 'refuse', harmless: kind.readOnlyTools }),
  };
}

/** Offered to the model like the agent's own tools; by default they could be reached from scripts only. */
function mcpServer(server: McpServerConfig): readonly [string, JsonObject] {
  const reached = { exposure: 'direct' } as const;
  if (server.transport === 'stdio') {
    const { command, args = [], env = {} } = server;
    return [server.name, { ...reached, command, args, env: literally(env) }];
  }
  return [server.name, { ...reached, url: server.url, headers: literally(server.headers ?? {}) }];
}

/** The agent takes a dollar sign for a variable, and an exclamation mark at the beginning for a command. */
function literally(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const literal = (value: string) => value.replaceAll('$', '$$$$').replace(/^!/, '$$!');
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, literal(value)]));
}

function providerOf(kind: PiKind, plan: SpawnPlan): JsonObject {
  if (plan.gateway === undefined) return {};
  const { api, baseUrl } = wireTo(plan.gateway, PI_WIRES);
  return {
    baseUrl,
    api,
    apiKey: kind.keyReference(KEY_VARIABLE),
    models: [{ ...declaredModel(plan), ...(HAS_HIGHEST.includes(api) && { thinkingLevelMap: { xhigh: 'xhigh' } }) }],
  };
}

/** Sampling has no flag; the extension sets it in the request, by the names of each wire. */
function payloadOf(options: RunOptions): Readonly<Record<string, JsonObject>> | undefined {
  const { temperature, topP, topK } = options;
  const limit = outputLimit(options);
  const sampling = { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { top_p: topP }) };
  const payload = {
    'openai-completions': { ...sampling, ...(limit !== undefined && { max_completion_tokens: limit }) },
    'anthropic-messages': { ...sampling, ...(topK !== undefined && { top_k: topK }), ...(limit !== undefined && { max_tokens: limit }) },
    'openai-responses': { ...sampling, ...(limit !== undefined && { max_output_tokens: limit }) },
  };
  return Object.values(payload).some((members) => Object.keys(members).length > 0) ? payload : undefined;
}

function thinkingDelivery(kind: PiKind, plan: SpawnPlan): ThinkingDelivery {
  const wish = thinkingWish(plan);
  if (wish === undefined) return NO_THINKING;
  return { by: 'flag', detail: `--thinking ${kind.levels[reachableLevel(plan, wish)]}` };
}

function unhonouredBy(plan: SpawnPlan): Unhonoured {
  const { options } = plan;
  const wish = thinkingWish(plan);
  return [
    ...(wish?.budgetTokens !== undefined
      ? [{ option: 'thinkingBudgetTokens', reason: `the agent takes levels; the nearest is ${wish.level}` }]
      : []),
    ...(wish !== undefined && wish.budgetTokens === undefined && reachableLevel(plan, wish) !== wish.level
      ? [{ option: 'thinkingEffort', reason: `${wish.level} is more than the agent sends on this wire; it sends high` }]
      : []),
    ...unknownOverrides(wish),
    ...(options.mcpServers?.some(({ transport }) => transport === 'sse') ? [NO_SSE] : []),
    ...unhonoured(options, {
      ...(plan.gateway?.dialect === 'gemini' && { temperature: GEMINI_SAMPLING, topP: GEMINI_SAMPLING }),
      ...(plan.gateway?.dialect !== 'claude' && { topK: 'only the Claude wire of the agent has it' }),
    }),
  ];
}

const NO_SSE = { option: 'mcpServers', reason: 'the agent does not speak SSE; servers that do are left out' };

const GEMINI_SAMPLING = 'the agent builds Gemini requests in a form that cannot be completed from outside';
