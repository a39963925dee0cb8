import type { Json, JsonObject } from '../base/json.ts';
import { AbpError, isErrorCode } from '../contract/errors.ts';

/** The part of a `Response` that is used here, so that a process of ours can do without the platform's `fetch`. */
export interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
  text(): Promise<string>;
  json(): Promise<unknown>;
}

interface Sent {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Where a server answers, as whom it is called, and by what. */
export interface Connection {
  readonly url: string;
  readonly key?: string | undefined;
  readonly fetch: (url: string, init: Sent) => Promise<Answer>;
}

/** A call, besides its path. */
export interface Call {
  /** By default POST where there is a body. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: Json | object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** An answer that is not an error; an error answer is thrown as the error it carries. */
export async function send({ url, key, fetch }: Connection, path: string, call: Call = {}): Promise<Answer> {
  const { body, headers = {}, signal } = call;
  const answer = await fetch(`${url}${path}`, {
    method: call.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...headers,
      ...(key !== undefined && { 'x-abp-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
  if (answer.ok) return answer;
  throw await errorOf(answer);
}

/** The JSON of an answer, or its text where it is none; errors as with `send`. */
export async function callJson(connection: Connection, path: string, call: Call = {}): Promise<Json> {
  const answer = await send(connection, path, call);
  return isJson(answer) ? ((await answer.json()) as Json) : await answer.text(); // what a parser makes of JSON text
}

/** A document of the contract: our own server checks what it answers against the same schemas. */
export async function getDocument<T>(connection: Connection, path: string, call: Call = {}): Promise<T> {
  return (await (await send(connection, path, call)).json()) as T;
}

function isJson({ headers }: Answer): boolean {
  return (headers.get('content-type') ?? '').includes('json');
}

/** An error body of the contract, or a problem of the agent plane, whose members stand at the top. */
interface ErrorBody {
  readonly error?: { readonly code?: string; readonly message?: string; readonly details?: JsonObject };
  readonly code?: string;
  readonly detail?: string;
  readonly details?: JsonObject;
}

async function errorOf(answer: Answer): Promise<AbpError> {
  const unknown = `the server answered ${answer.status}`;
  if (!isJson(answer)) {
    await answer.text();
    return new AbpError('internal', unknown);
  }
  // Another server may stand in front of ours and say anything.
  const body = ((await answer.json().catch(() => undefined)) ?? {}) as ErrorBody;
  const { code = '', message = unknown, details = {} } = body.error ?? { ...body, ...(body.detail && { message: body.detail }) };
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
export function retryAfterMs(answer: Pick<Answer, 'headers'>): number {
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.max(seconds * 1000, LEAST_PAUSE_MS) : LEAST_PAUSE_MS;
}
