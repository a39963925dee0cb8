import { sha256 } from '../../base/canonical-json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { McpTool } from '../mcp/connections.ts';
import type { McpEndpoint } from '../mcp/endpoint.ts';
import type { Secrets } from '../secrets.ts';
import type { Surroundings } from '../surroundings.ts';
import type { Tool } from '../tool.ts';
import type { McpServer } from './definition.ts';
import { fillText, placesIn } from './template.ts';

/** Models take fewer characters in a name than MCP does. */
const MAX_NAME = 64;

/** The tools of an MCP server. A server that is not there is an error: an agent without its tools would be another agent. */
export async function mcpTools(server: McpServer, { mcp, secrets }: Surroundings): Promise<Tool[]> {
  const endpoint = endpointOf(server, secrets);
  const offered = await mcp.tools(endpoint);
  const missing = (server.tools ?? []).filter((name) => !offered.some((tool) => tool.name === name));
  if (missing.length > 0) throw new AbpError('unprocessable', `The MCP server has no tool ${missing.join(', ')}.`, { missing });
  const chosen = offered.filter(({ name }) => server.tools?.includes(name) ?? true);
  return chosen.map((tool) => toolOf(tool, isPlain(tool.name)));

  function toolOf(tool: McpTool, plain: boolean): Tool {
    const timeoutMs = server.timeout_s * 1000;
    return {
      name: plain ? tool.name : plainName(tool.name),
      description: tool.description,
      parameters: tool.parameters,
      policy: server.policy,
      effect: tool.idempotent ? 'idempotent' : 'at_most_once',
      timeoutMs,
      execute: (input, context) => mcp.call(endpoint, { name: tool.name, input, timeoutMs }, context),
    };
  }
}

function isPlain(name: string): boolean {
  return /^[\w-]{1,64}$/.test(name);
}

/** A name that models take; the digest keeps two names apart that become alike. */
function plainName(name: string): string {
  return `${name.replaceAll(/[^\w-]/g, '_').slice(0, MAX_NAME - 9)}_${sha256(name).slice(0, 8)}`;
}

/** The server with its secrets filled in. */
export function endpointOf(server: McpServer, secrets: Secrets): McpEndpoint {
  const fill = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fillText(value, { input: {}, config: {}, secrets }) ?? '']));
  if (server.transport === 'http') {
    assertSecretsGoHome(server.url, Object.values(server.headers), secrets);
    return { transport: 'http', url: server.url, headers: fill(server.headers) };
  }
  const { command, args, env, cwd } = server;
  return { transport: 'stdio', command, args, env: fill(env), ...(cwd === undefined ? {} : { cwd }) };
}

function assertSecretsGoHome(url: string, templates: readonly string[], secrets: Secrets): void {
  const host = URL.parse(url)?.host ?? '';
  for (const { room, name } of templates.flatMap(placesIn)) {
    if (room === 'secret' && !(secrets.find(name)?.hosts.includes(host) ?? false)) {
      throw new AbpError('E005', `The secret ${name} may not be sent to ${host}.`, { secret: name, host });
    }
  }
}
