import { Readable, Transform } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Outbound } from '../../upstream/outbound.ts';
import { MessageMeasure } from './message-limits.ts';
import { StdioTransport } from './stdio.ts';

/** Statuses whose answers have no body; `Response` refuses one. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** The SDK is loaded when the first server is used. */
export async function openTransport(endpoint: McpEndpoint, outbound: Outbound): Promise<Transport> {
  if (endpoint.transport === 'stdio') {
    const { getDefaultEnvironment } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    // A few harmless variables and what the definition names; not the environment of the server, which holds keys.
    return new StdioTransport({ ...endpoint, env: { ...getDefaultEnvironment(), ...endpoint.env } });
  }
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const transport = new StreamableHTTPClientTransport(new URL(endpoint.url), {
    fetch: outboundFetch(outbound),
    requestInit: { headers: { ...endpoint.headers } },
  });
  return transport as Transport; // its session id may be undefined, which the interface writes as absent
}

/** The body of an answer, broken off where one message in it is too long or holds too much: the SDK holds each until it is whole. */
function bounded(body: Readable, headers: Readonly<Record<string, string>>): Readable {
  const measure = new MessageMeasure(headers['content-type']?.startsWith('text/event-stream') === true);
  const counted = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      const fault = measure.add(chunk);
      if (fault === undefined) done(null, chunk);
      else done(new Error(`the MCP server sent ${fault}`));
    },
  });
  // An error on either side ends the other, too.
  body.on('error', (error) => counted.destroy(error));
  counted.on('close', () => body.destroy());
  return body.pipe(counted);
}

/** A `fetch` for the SDK instead of the global one: the same shape on the guarded client. */
export function outboundFetch(outbound: Outbound): FetchLike {
  return async (url, init = {}) => {
    const { body, method = 'GET', signal } = init;
    if (body !== undefined && body !== null && typeof body !== 'string') throw new TypeError('the body of an MCP request is text');
    const answer = await outbound.send({
      url: String(url),
      method,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof body === 'string' ? { body } : {}),
      signal: signal ?? undefined,
      // The SDK decides about redirects itself.
      maxRedirects: 0,
    });
    const stream = BODILESS.has(answer.status)
      ? null
      : (Readable.toWeb(bounded(answer.body, answer.headers)) as ReadableStream<Uint8Array>); // a byte stream
    if (stream === null) answer.body.resume();
    return new Response(stream, { status: answer.status, headers: answer.headers });
  };
}

/** An MCP server and how it is reached, with every secret filled in. Kept in memory only. */
export type McpEndpoint =
  | { readonly transport: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly transport: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
    };
