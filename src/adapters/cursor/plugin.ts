import type { JsonObject } from '../../base/json.ts';
import type { McpServerConfig } from '../../contract/runs/run-options.ts';

/** A plugin of the run alone, and the folder that holds it. The agent names its servers `plugin:server`. */
export const PLUGIN = 'abp';
export const PLUGIN_FOLDER = 'cursor-plugin';

/** Without a plugin MCP servers could only stand in files of the user or of the project. */
export function pluginFiles(servers: readonly McpServerConfig[]): Readonly<Record<string, string>> {
  if (servers.length === 0) return {};
  return {
    [`${PLUGIN_FOLDER}/.cursor-plugin/plugin.json`]: JSON.stringify({ name: PLUGIN }),
    [`${PLUGIN_FOLDER}/mcp.json`]: JSON.stringify({ mcpServers: Object.fromEntries(servers.map(mcpServer)) }),
  };
}

function mcpServer(server: McpServerConfig): readonly [string, JsonObject] {
  if (server.transport !== 'stdio') return [server.name, { url: server.url, headers: server.headers ?? {} }];
  const { command, args = [], env = {} } = server;
  return [server.name, { command, args, env }];
}
