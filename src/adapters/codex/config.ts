import type { Json, JsonObject } from '../../base/json.ts';
import { ValidationError } from '../../contract/runs/run-error.ts';
import type { McpServerConfig } from '../../contract/runs/run-options.ts';
import type { GatewayRoute } from '../adapter.ts';
import { KEY_VARIABLE } from '../families/launch/wire.ts';

const PROVIDER = 'abp';

/** Our gateway as a provider of models. The agent speaks Responses only. */
export function gatewayConfig(gateway: GatewayRoute): JsonObject {
  const { origin, engine, ownLogin, contextWindow } = gateway;
  return {
    model_provider: PROVIDER,
    [`model_providers.${PROVIDER}`]: {
      name: 'Agent Backplane',
      base_url: `${origin}/e/${engine}/v1`,
      wire_api: 'responses',
      ...(ownLogin === true ? { requires_openai_auth: true } : { env_key: KEY_VARIABLE }),
    },
    'analytics.enabled': false,
    check_for_update_on_startup: false,
    ...(contextWindow === undefined ? {} : { model_context_window: contextWindow }),
    ...(isOpenAi(gateway) ? {} : PLAIN),
  };
}

/** Tools that run at the vendor, and tools that are held back until the model searches for them, exist on OpenAI itself only. */
const PLAIN: JsonObject = { web_search: 'disabled', 'features.multi_agent': false };

export function isOpenAi({ engine }: GatewayRoute): boolean {
  return engine === 'openai';
}

/** MCP servers by name, with what they need to start. */
export function mcpConfig(servers: readonly McpServerConfig[]): JsonObject {
  return Object.fromEntries(servers.map((server) => [`mcp_servers.${server.name}`, mcpServer(server)]));
}

function mcpServer(server: McpServerConfig): JsonObject {
  if (server.transport === 'stdio') {
    const { command, args = [], env = {} } = server;
    return { command, args, env };
  }
  return { url: server.url, http_headers: server.headers ?? {} };
}

/** MCP servers for settings that stand in arguments: what may be secret is in variables, and the settings name those. */
export function mcpByVariables(servers: readonly McpServerConfig[]): { readonly config: JsonObject; readonly env: Record<string, string> } {
  const env: Record<string, string> = {};
  const rows = servers.map((server, at): [string, JsonObject] => {
    if (server.transport === 'stdio') {
      const { command, args = [], env: own = {} } = server;
      for (const [name, value] of Object.entries(own)) setVariable(env, name, value);
      return [`mcp_servers.${server.name}`, { command, args, env_vars: Object.keys(own) }];
    }
    const names = Object.entries(server.headers ?? {}).map(([header, value], place) => {
      const name = `ABP_MCP_${at}_${place}`;
      env[name] = value;
      return [header, name] as const;
    });
    return [`mcp_servers.${server.name}`, { url: server.url, env_http_headers: Object.fromEntries(names) }];
  });
  return { config: Object.fromEntries(rows), env };
}

/** The agent hands its own variables on, so each has one value for all servers. */
function setVariable(env: Record<string, string>, name: string, value: string): void {
  if (env[name] !== undefined && env[name] !== value) {
    throw new ValidationError([
      { field: 'mcpServers', message: `give ${name} two values, and the screen of Codex has one for all servers` },
    ]);
  }
  env[name] = value;
}

/** Settings as arguments; their values are TOML. */
export function configArgs(config: JsonObject): readonly string[] {
  return Object.entries(config).flatMap(([key, value]) => ['-c', `${key}=${toml(value)}`]);
}

/** Texts, numbers and truth are written as in JSON; tables are not. */
function toml(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}=${toml(member)}`)
    .join(',')}}`;
}
