import { sha256 } from '../../base/canonical-json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { McpTool } from '../mcp/connections.ts';
import type { McpEndpoint } from '../mcp/transport.ts';
import { refusedCaller, refusedPlace, type Secret, type Secrets } from '../tools/secrets.ts';
import type { Surroundings } from '../tools/surroundings.ts';
import type { Tool } from '../tools/tool.ts';
import type { McpServer } from './definition.ts';
import { fillText, hasStrayBraces, placesIn } from './template.ts';

/** Models take fewer characters in a name than MCP does. */
const MAX_NAME = 64;
/** The most tools that one server brings, and how long one tool may go on about itself: all of it is sent with every model call. */
const MOST_TOOLS = 500;
const MOST_WORDS = 64 * 1024;

/** The tools of an MCP server. A server that is not there is an error: an agent without its tools would be another agent. */
export async function mcpTools(server: McpServer, { mcp, secrets }: Surroundings): Promise<Tool[]> {
  const endpoint = endpointOf(server, secrets);
  const offered = await mcp.tools(endpoint).catch((error: unknown) => {
    // A server may say what it was sent.
    throw AbpError.is(error) ? new AbpError(error.code, secrets.redact(error.message), error.details) : error;
  });
  const missing = (server.tools ?? []).filter((name) => !offered.some((tool) => tool.name === name));
  if (missing.length > 0) throw new AbpError('unprocessable', `The MCP server has no tool ${missing.join(', ')}.`, { missing });
  const chosen = offered.filter(({ name }) => server.tools?.includes(name) ?? true);
  assertModest(chosen);
  const used = secretsIn(server, secrets);
  return chosen.map((tool) => toolOf(tool, isPlain(tool.name)));

  function toolOf(tool: McpTool, plain: boolean): Tool {
    const timeoutMs = server.timeout_s * 1000;
    return {
      name: plain ? tool.name : plainName(tool.name),
      description: secrets.redact(tool.description),
      parameters: tool.parameters,
      policy: server.policy ?? (tool.destructive ? 'requires_approval' : 'auto'),
      effect: tool.idempotent ? 'idempotent' : 'at_most_once',
      timeoutMs,
      execute: async (input, context) => {
        const refused = used.map((secret) => refusedCaller(secret, context.behalf)).find((one) => one !== undefined);
        if (refused !== undefined) return { error: refused };
        const outcome = await mcp.call(endpoint, { name: tool.name, input, timeoutMs }, context);
        return 'error' in outcome ? { error: secrets.redact(outcome.error) } : { output: secrets.redactJson(outcome.output) };
      },
    };
  }
}

/** A part of the tools would be another agent, so too many are refused. */
function assertModest(tools: readonly McpTool[]): void {
  const remedy = 'name those that are needed under mcp.tools';
  if (tools.length > MOST_TOOLS) {
    throw new AbpError('unprocessable', `The MCP server has ${tools.length} tools, more than ${MOST_TOOLS}; ${remedy}.`);
  }
  for (const { name, description, parameters } of tools) {
    const words = description.length + JSON.stringify(parameters).length;
    if (words <= MOST_WORDS) continue;
    throw new AbpError(
      'unprocessable',
      `The MCP server describes its tool ${name} in ${words} characters, more than ${MOST_WORDS}; ${remedy}.`,
    );
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
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, filled(value, secrets)]));
  if (server.transport === 'http') {
    assertSecretsGoHome(server.url, secretsIn(server, secrets));
    return { transport: 'http', url: server.url, headers: fill(server.headers) };
  }
  assertFree(secretsIn(server, secrets));
  const { command, args, env, cwd } = server;
  return { transport: 'stdio', command, args, env: fill(env), ...(cwd === undefined ? {} : { cwd }) };
}

/** A program can send what it is given anywhere, so a secret that is bound to hosts is not given to one. */
function assertFree(secrets: readonly Secret[]): void {
  const bound = secrets.find(({ hosts }) => hosts.length > 0);
  if (bound === undefined) return;
  throw new AbpError(
    'unprocessable',
    `The secret ${bound.name} may go to ${bound.hosts.join(', ')} only; a program of this machine could send it anywhere. Configure one with hosts = [] for programs.`,
  );
}

/** A server is there before any call, and for all agents: it knows neither inputs nor settings. */
function filled(template: string, secrets: Secrets): string {
  const missing = placesIn(template).find(({ room, name }) => room !== 'secret' || secrets.find(name) === undefined);
  if (missing === undefined && !hasStrayBraces(template)) return fillText(template, { input: {}, config: {}, secrets }) ?? '';
  if (missing?.room === 'secret') throw new AbpError('unprocessable', `The secret ${missing.name} is not configured on this server.`);
  throw new AbpError('unprocessable', 'Headers and variables of an MCP server are text in which only {{secret.NAME}} may stand.');
}

/** The operator's secrets that a server is sent. */
function secretsIn(server: McpServer, secrets: Secrets): Secret[] {
  const templates = Object.values(server.transport === 'http' ? server.headers : server.env);
  return templates.flatMap(placesIn).flatMap(({ room, name }) => (room === 'secret' ? (secrets.find(name) ?? []) : []));
}

/** MCP asks everything with POST. */
function assertSecretsGoHome(address: string, secrets: readonly Secret[]): void {
  const url = URL.parse(address);
  for (const secret of secrets) {
    const refused = url === null ? `The secret ${secret.name} may not be sent to ${address}.` : refusedPlace(secret, url, 'POST');
    if (refused !== undefined) throw new AbpError('E005', refused, { secret: secret.name, host: url?.host ?? '' });
  }
}
