import { type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { type Json, parseJson } from './json.ts';

/** How long a server may take until its answer begins; it holds an answer itself for up to 30 seconds where it is asked to wait. */
const ANSWER_MS = 45_000;
/** How long an answer that has begun may be silent; event streams say something every 15 seconds. */
const SILENCE_MS = 300_000;

export interface NodeFetchInit {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An answer, with the members of a `Response` that callers of our own server use. */
export interface NodeAnswer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
  json(): Promise<Json>;
}

/**
 * `fetch` for the calls that a process of ours makes to a server of ours. Unlike the platform's it is loaded in a millisecond, knows no
 * ports that browsers forbid, and keeps no connection, which would only hold a process open that makes one call.
 */
export function nodeFetch(url: string, { method = 'GET', headers = {}, body, signal }: NodeFetchInit = {}): Promise<NodeAnswer> {
  const ask = url.startsWith('https:') ? overHttps : overHttp;
  return new Promise((resolve, reject) => {
    const asked = ask(url, { method, headers, agent: false, ...(signal && { signal }) }, (message) => {
      asked.setTimeout(SILENCE_MS);
      resolve(answerOf(message));
    });
    asked.setTimeout(ANSWER_MS);
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
    body: message,
    text,
    async json() {
      const parsed = parseJson(await text());
      if (parsed.ok) return parsed.value;
      throw new SyntaxError(parsed.message);
    },
  };
}
