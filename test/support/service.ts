import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { exampleMcpServer } from './mcp-tools.ts';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** A service on loopback: `/mcp` speaks MCP, everything else is remembered and answered with what was sent. */
export interface Service {
  readonly host: string;
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

export async function startService(): Promise<Service> {
  const seen: SeenRequest[] = [];
  const server = http.createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    if (url.startsWith('/mcp')) {
      seen.push({ method, url, headers, body: '' });
      const transport = new StreamableHTTPServerTransport({});
      await exampleMcpServer().connect(transport as Parameters<ReturnType<typeof exampleMcpServer>['connect']>[0]); // optional members are typed as undefined
      await transport.handleRequest(request, response);
      return;
    }
    const body = await text(request);
    seen.push({ method, url, headers, body });
    if (url.startsWith('/round')) {
      response.writeHead(302, { location: url }).end();
      return;
    }
    const status = url.startsWith('/fail') ? 418 : 200;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ echo: { method, url, authorization: headers.authorization ?? null, body } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    host: `127.0.0.1:${port}`,
    seen,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
