import type { JsonObject } from '../../base/json.ts';
import type { McpServerConfig } from '../../contract/runs/run-options.ts';
import type { GatewayRoute, SpawnPlan } from '../adapter.ts';
import { thinkingWish } from '../families/launch/thinking.ts';
import { outputLimit } from '../families/launch/unhonoured.ts';

/** Settings of one run; empty when there are none. */
export function settingsOf(plan: SpawnPlan, contextFolder: string | undefined): JsonObject {
  const { gateway, options } = plan;
  const servers = options.mcpServers ?? [];
  const overrides = [...samplingOverrides(plan), ...thinkingOverrides(plan)];
  return {
    // With another address alone the agent picks a way of logging in that it then refuses without a screen.
    ...(gateway !== undefined && {
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    }),
    ...(servers.length > 0 && { mcpServers: Object.fromEntries(servers.map(mcpServer)) }),
    ...(contextFolder !== undefined && { context: { includeDirectories: [contextFolder], loadMemoryFromIncludeDirectories: true } }),
    ...(overrides.length > 0 && { modelConfigs: { customOverrides: overrides } }),
  };
}

function mcpServer(server: McpServerConfig): readonly [string, JsonObject] {
  if (server.transport === 'stdio') {
    const { command, args = [], env = {} } = server;
    return [server.name, { command, args, env, trust: true }];
  }
  const url = server.transport === 'sse' ? { url: server.url } : { httpUrl: server.url };
  return [server.name, { ...url, headers: server.headers ?? {}, trust: true }];
}

/** The settings of all models derive from one of these three. */
const EVERY_MODEL = 'chat-base';
const BUDGET_MODELS = 'chat-base-2.5';
const LEVEL_MODELS = 'chat-base-3';

function override(model: string, generateContentConfig: JsonObject): JsonObject {
  return { match: { model }, modelConfig: { generateContentConfig } };
}

function samplingOverrides({ options, gateway }: SpawnPlan): readonly JsonObject[] {
  const { temperature, topP, topK } = options;
  const limit = outputLimit(options);
  const config: JsonObject = {
    // The agent sends one by default, and engines that have none would have to refuse it; null takes it out.
    ...(gateway !== undefined && !isGemini(gateway) && { topK: null }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(limit !== undefined && { maxOutputTokens: limit }),
  };
  return Object.keys(config).length === 0 ? [] : [override(EVERY_MODEL, config)];
}

function isGemini({ engine }: GatewayRoute): boolean {
  return engine === 'gemini';
}

const LEVELS = { low: 'LOW', medium: 'MEDIUM', high: 'HIGH', max: 'HIGH' } as const;

/** Models of one generation take a budget and those of the next a level; a request with both is refused. */
function thinkingOverrides(plan: SpawnPlan): readonly JsonObject[] {
  const { thinking, modelId } = plan;
  if (Object.keys(thinking).length === 0) return [];
  const { thinkingBudget: _, ...others } = thinking;
  const level = levelOf(plan);
  const { thinkingLevel: __, ...budget } = thinking;
  return [
    override(BUDGET_MODELS, { thinkingConfig: budget }),
    override(LEVEL_MODELS, { thinkingConfig: { ...others, ...(level !== undefined && { thinkingLevel: level }) } }),
    // A model that the agent has no settings for.
    ...(modelId === undefined || /^gemini-|^auto|^pro$|^flash/.test(modelId) ? [] : [override(modelId, { thinkingConfig: budget })]),
  ];
}

/** The level for models that take one; undefined when the run says nothing about how much to think. */
export function levelOf(plan: SpawnPlan): string | undefined {
  const { thinkingLevel, thinkingBudget } = plan.thinking;
  if (typeof thinkingLevel === 'string') return thinkingLevel;
  const wish = thinkingWish(plan);
  return wish === undefined || thinkingBudget === undefined ? undefined : LEVELS[wish.level];
}
