import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { McpConnections } from '../../../src/platform/mcp/connections.ts';
import type { McpEndpoint } from '../../../src/platform/mcp/transport.ts';
import { Outbound } from '../../../src/upstream/outbound.ts';
import { exampleMcpServer } from '../../support/mcp-tools.ts';

describe('an MCP server that knows its sessions', () => {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  let server: http.Server;
  let endpoint: McpEndpoint;
  let connections: McpConnections;
  let outbound: Outbound;

  async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (known !== undefined) return await known.handleRequest(request, response);
    if (id !== undefined) return void response.writeHead(404).end();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (made) => void sessions.set(made, transport),
    });
    await exampleMcpServer().connect(transport as Parameters<ReturnType<typeof exampleMcpServer>['connect']>[0]); // optional members are typed as undefined
    await transport.handleRequest(request, response);
  }

  beforeAll(async () => {
    server = http.createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
    outbound = new Outbound({ allow: [host] });
    connections = new McpConnections(outbound, '0');
    endpoint = { transport: 'http', url: `http://${host}/mcp`, headers: {} };
  });
  afterAll(async () => {
    await connections.close();
    await outbound.close();
    server.closeAllConnections();
    server.close();
  });

  const shout = () =>
    connections.call(
      endpoint,
      { name: 'shout', input: { text: 'hi' }, timeoutMs: 60_000 },
      { callId: 'call_1', signal: AbortSignal.timeout(60_000) },
    );

  it('may be started anew between two calls', async () => {
    expect(await shout()).toEqual({ output: 'HI' });
    sessions.clear();
    expect(await shout()).toEqual({ output: 'HI' });
    expect(sessions.size).toBe(1);
  });

  it('that is gone is named to the model', async () => {
    server.closeAllConnections();
    server.close();
    expect(await shout()).toEqual({ error: expect.stringMatching(/^127\.0\.0\.1:\d+ cannot be reached/) });
  });
});
