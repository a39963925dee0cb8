import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type Json, parseJson } from './json.ts';
import { pinnedSocket, pinOf } from './pinned-certificates.ts';

/** How long a server may take until its answer begins; it holds an answer itself for up to 30 seconds where it is asked to wait. */
const ANSWER_MS = 45_000;
/** How long an answer that has begun may be silent; event streams say something every 15 seconds. */
const SILENCE_MS = 300_000;

export interface NodeFetchInit {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long the server may take until its answer begins. */
  readonly answerMs?: number | undefined;
}

/** An answer, with the members of a `Response` that callers of our own server use. */
export interface NodeAnswer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** Name and value in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly body: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
  json(): Promise<Json>;
}

/**
 * `fetch` for the calls that a process of ours makes to a server of ours or to a bucket. Unlike the platform's it is loaded in a millisecond, knows no
 * ports that browsers forbid, and keeps no connection, which would only hold a process open that makes one call. A server of this machine
 * whose home names its certificate is known by that certificate.
 */
export async function nodeFetch(url: string, init: NodeFetchInit = {}): Promise<NodeAnswer> {
  const { method = 'GET', headers = {}, body, signal, answerMs = ANSWER_MS } = init;
  // Asked for here: threads that load this module for a day that may not come would pay for it at every start.
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  const pin = pinOf(url);
  const socket = pin === undefined ? undefined : await pinnedSocket(url, pin);
  const way = socket === undefined ? { agent: false as const } : { createConnection: () => socket };
  return await new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, ...way, ...(signal && { signal }) }, (message) => {
      asked.setTimeout(SILENCE_MS);
      resolve(answerOf(message));
    });
    asked.setTimeout(answerMs);
    asked.on('timeout', () => asked.destroy(new Error('the server is silent')));
    asked.on('error', reject);
    asked.end(body);
  });
}

function answerOf(message: IncomingMessage): NodeAnswer {
  const { statusCode: status = 0 } = message;
  const text = async (): Promise<string> => (await buffer(message)).toString();
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: { get: (name) => [message.headers[name.toLowerCase()] ?? []].flat().join(', ') || null },
    rawHeaders: message.rawHeaders,
    body: message,
    text,
    async json() {
      const parsed = parseJson(await text());
      if (parsed.ok) return parsed.value;
      throw new SyntaxError(parsed.message);
    },
  };
}
