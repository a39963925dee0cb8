import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { canonicalJson, sha256 } from '../../base/canonical-json.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Outbound } from '../../upstream/outbound.ts';
import type { ToolContext, ToolOutcome } from '../tools/tool.ts';
import { outcomeOf } from './result.ts';
import { type McpEndpoint, openTransport } from './transport.ts';

/** A tool as the server describes it. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  /** The server says that calling it again changes nothing more. */
  readonly idempotent: boolean;
  /** The server says that it destroys something. */
  readonly destructive: boolean;
}

export interface McpCall {
  readonly name: string;
  readonly input: JsonObject;
  readonly timeoutMs: number;
}

interface Connection {
  readonly client: Client;
  tools: readonly McpTool[];
  /** When the server was asked for them; undefined once it has said that they have changed. */
  listedAt: number | undefined;
  /** Calls under way. */
  calls: number;
  idle: NodeJS.Timeout;
}

const CONNECT_MS = 20_000;
const IDLE_MS = 5 * 60_000;
/** The most tools that one server may list; one that lists more, or without an end, is broken. */
const MOST_TOOLS = 5000;
const MOST_PAGES = 200;
/** How long a list of tools is believed; not every server says when it changes. */
export const LIST_MS = 60_000;

/** Open connections to MCP servers. One per server, made at the first use, ended when nobody has used it for a while. */
export class McpConnections {
  readonly #outbound: Outbound;
  readonly #version: string;
  readonly #open = new Map<string, Promise<Connection>>();
  #changes = 0;

  constructor(outbound: Outbound, version: string) {
    this.#outbound = outbound;
    this.#version = version;
  }

  /** Grows whenever a server says that its tools have changed. */
  get changes(): number {
    return this.#changes;
  }

  /** The tools of a server, as it has listed them a short while ago. */
  async tools(endpoint: McpEndpoint): Promise<readonly McpTool[]> {
    const connection = await this.#connection(endpoint);
    if (connection.listedAt !== undefined && performance.now() - connection.listedAt < LIST_MS) return connection.tools;
    try {
      await list(connection);
      return connection.tools;
    } catch {
      // A server that works on a call may have no time for more, and ending it would end the call.
      if (connection.calls > 0) return connection.tools;
      // A server that was started anew does not know the connection; one that is gone is reported by the next attempt.
      await end(connection);
      return (await this.#connection(endpoint)).tools;
    }
  }

  async call(endpoint: McpEndpoint, call: McpCall, { callId, signal }: Pick<ToolContext, 'callId' | 'signal'>): Promise<ToolOutcome> {
    // A server that keeps a table of calls can tell a second attempt by it.
    const parameters = { name: call.name, arguments: { ...call.input }, _meta: { 'agent-backplane/call-id': callId } };
    const attempt = async (connection: Connection): Promise<ToolOutcome> =>
      outcomeOf(await connection.client.callTool(parameters, undefined, { signal, timeout: call.timeoutMs }));
    try {
      const connection = await this.#connection(endpoint);
      return await counted(connection, () => attempt(connection)).catch(async (error: unknown) => {
        if (!isForgotten(error)) throw error;
        await end(connection);
        const fresh = await this.#connection(endpoint);
        return await counted(fresh, () => attempt(fresh));
      });
    } catch (error) {
      if (AbpError.is(error)) return { error: error.message };
      return { error: `${nameOf(endpoint)}: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  /** Ends every connection and every server process. */
  async close(): Promise<void> {
    const all = [...this.#open.values()];
    this.#open.clear();
    await Promise.allSettled(all.map(async (opening) => end(await opening)));
  }

  async #connection(endpoint: McpEndpoint): Promise<Connection> {
    // A digest, so that no secret is the key of anything.
    const key = sha256(canonicalJson({ ...endpoint }));
    const known = this.#open.get(key);
    const opening: Promise<Connection> = known ?? this.#connect(endpoint, () => this.#forget(key, opening));
    if (known === undefined) this.#open.set(key, opening);
    const connection = await opening;
    connection.idle.refresh();
    return connection;
  }

  /** The one that took its place stays. */
  #forget(key: string, opening: Promise<Connection>): void {
    if (this.#open.get(key) === opening) this.#open.delete(key);
  }

  async #connect(endpoint: McpEndpoint, forget: () => void): Promise<Connection> {
    try {
      const { Client: McpClient } = await import('@modelcontextprotocol/sdk/client/index.js');
      const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
      const client = new McpClient({ name: 'agent-backplane', version: this.#version });
      await client.connect(await openTransport(endpoint, this.#outbound), { timeout: CONNECT_MS });
      const idle = setTimeout(() => {
        if (connection.calls > 0) {
          idle.refresh();
          return;
        }
        forget();
        client.close().catch(forget);
      }, IDLE_MS).unref();
      const connection: Connection = { client, tools: [], listedAt: undefined, calls: 0, idle };
      client.onclose = forget;
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
        connection.listedAt = undefined;
        this.#changes += 1;
      });
      await list(connection).catch(async (error: unknown) => {
        await end(connection);
        throw error;
      });
      return connection;
    } catch (error) {
      forget();
      throw unreachable(endpoint, error);
    }
  }
}

async function counted<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  connection.calls += 1;
  try {
    return await work();
  } finally {
    connection.calls -= 1;
    connection.idle.refresh();
  }
}

/** A server that was started anew answers 404 to a session it does not know, before it looks at the call. */
function isForgotten(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 404;
}

/** Before the answer comes the list may change again; the mark of that must stay. */
async function list(connection: Connection): Promise<void> {
  connection.listedAt = performance.now();
  connection.tools = await listTools(connection.client);
}

async function listTools(client: Client): Promise<McpTool[]> {
  const tools: McpTool[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES && tools.length <= MOST_TOOLS; pages += 1) {
    const page = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: CONNECT_MS });
    for (const tool of page.tools) {
      const { readOnlyHint, idempotentHint, destructiveHint } = tool.annotations ?? {};
      tools.push({
        name: tool.name,
        description: tool.description ?? tool.title ?? tool.name,
        parameters: tool.inputSchema as Json as JsonObject, // it came as JSON, and the SDK has checked that it is an object
        idempotent: readOnlyHint === true || idempotentHint === true,
        destructive: destructiveHint === true && readOnlyHint !== true,
      });
    }
    cursor = page.nextCursor;
    if (cursor === undefined) return tools;
  }
  throw new Error(`its list of tools does not end within ${MOST_PAGES} pages and ${MOST_TOOLS} tools`);
}

async function end({ client, idle }: Connection): Promise<void> {
  clearTimeout(idle);
  await client.close();
}

/** How a server is named in messages: no header, no variable, no query. */
function nameOf(endpoint: McpEndpoint): string {
  return endpoint.transport === 'http' ? (URL.parse(endpoint.url)?.host ?? 'the MCP server') : endpoint.command;
}

function unreachable(endpoint: McpEndpoint, error: unknown): AbpError {
  if (AbpError.is(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new AbpError('E007', `The MCP server ${nameOf(endpoint)} cannot be used: ${reason}`, { backend_id: nameOf(endpoint) });
}
