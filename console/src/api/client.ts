import { parsed } from '../base/parsed.ts';
import { takeEarly } from './early.ts';

/** An error answer of the server, in its own words. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly remedy: string | null;

  constructor(status: number, body: unknown, requestId: string | null) {
    const error = membersOf(membersOf(body).error ?? body);
    super(textOf(error.message) ?? textOf(error.detail) ?? `The server answered ${status}.`);
    this.name = 'ApiError';
    this.status = status;
    this.code = textOf(error.code) ?? String(status);
    this.remedy = textOf(error.remedy);
    this.requestId = requestId;
  }

  /** The caller is not signed in, or may not do this. */
  get isPermission(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** The server cannot be reached at all. */
export class OfflineError extends Error {}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

async function answered(asking: Promise<Response>, alsoGood?: number): Promise<Response> {
  const answer = await asking.catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new OfflineError('The server cannot be reached.');
  });
  if (answer.ok || answer.status === alsoGood) return answer;
  const text = await answer.text();
  throw new ApiError(answer.status, parsed(text), answer.headers.get('x-abp-run-id'));
}

/** GET as JSON. The type is that of the route's own schema (`types.ts`); some answer with another status in the same shape. */
export async function get<T>(path: string, signal?: AbortSignal, alsoGood?: number): Promise<T> {
  const asking = takeEarly(path) ?? fetch(path, { headers: { accept: 'application/json' }, ...(signal === undefined ? {} : { signal }) });
  return (await (await answered(asking, alsoGood)).json()) as T; // the server checks its answers against that schema in its own tests
}

/** GET as text. */
export async function getText(path: string): Promise<string> {
  return await (await answered(fetch(path))).text();
}

export async function send<T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const answer = await answered(
    fetch(path, {
      method,
      ...(signal === undefined ? {} : { signal }),
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    }),
  );
  const text = await answer.text();
  return (text === '' ? undefined : JSON.parse(text)) as T; // as above
}

/** A path with those parameters that are set. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') search.set(name, String(value));
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}
