import type { JsonObject } from '../base/json.ts';
import { AbpError, isErrorCode } from '../contract/errors.ts';

/** Where a server answers, and as whom it is called. */
export interface Connection {
  readonly url: string;
  readonly key?: string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

/** What else a call says. */
export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** A GET whose answer is not an error; an error answer is thrown as the error it carries. */
export async function get(connection: Connection, path: string, { headers = {}, signal }: CallOptions = {}): Promise<Response> {
  return await called(connection, path, { headers, ...(signal === undefined ? {} : { signal }) });
}

/** A POST with a JSON body; errors as with `get`. */
export async function post(connection: Connection, path: string, body: object): Promise<Response> {
  return await called(connection, path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

async function called({ url, key, fetch }: Connection, path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  if (key !== undefined) headers.set('x-abp-key', key);
  const answer = await fetch(`${url}${path}`, { ...init, headers });
  if (answer.ok) return answer;
  throw await errorOf(answer);
}

async function errorOf(answer: Response): Promise<AbpError> {
  const text = await answer.text();
  const fallback = new AbpError('internal', `the server answered ${answer.status}`);
  if (!(answer.headers.get('content-type') ?? '').includes('json')) return fallback;
  const body = (await new Response(text).json()) as { error?: { code?: string; message?: string; details?: JsonObject } }; // an error body of the contract
  const { code = '', message = fallback.message, details = {} } = body.error ?? {};
  return new AbpError(isErrorCode(code) ? code : 'internal', message, details);
}

/** Waits, until the signal aborts at the latest. */
export async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}

const LEAST_PAUSE_MS = 250;

/** How long the server asks to wait before it is asked again. */
export function retryAfterMs(answer: Response): number {
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.max(seconds * 1000, LEAST_PAUSE_MS) : LEAST_PAUSE_MS;
}
