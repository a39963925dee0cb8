import type { IncomingMessage, ServerResponse } from 'node:http';
import { AbpError, errorBody } from '../../contract/errors.ts';
import { type RunId, requestIdOf } from '../../contract/run-id.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { isAway } from '../../store/databases/away.ts';
import { isProblemPath, PROBLEM_TYPE, problemBody } from './problem.ts';

export interface ErrorTarget {
  readonly runId: RunId;
  /** Where this server answers; the documentation of an error is on it. */
  readonly url: string;
  /** The dialect whose SDK reads the error; undefined for control routes. */
  readonly dialect?: Dialect | undefined;
  /** Takes the secrets of the installation out of a text: an error may quote a program or an engine. */
  readonly redact?: ((text: string) => string) | undefined;
  /** The path that was asked for, where no dialect owns it. */
  readonly path?: string | undefined;
}

export interface RenderedError {
  readonly status: number;
  readonly contentType: string;
  readonly body: object;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** The body of an error in the caller's own shape. */
export function renderError(error: AbpError, target: ErrorTarget): RenderedError {
  const { status } = error.row;
  if (target.dialect === undefined && target.path !== undefined && isProblemPath(target.path)) {
    return { status, contentType: PROBLEM_TYPE, body: problemBody(error, { ...target, path: target.path }) };
  }
  const body = errorBody(error, {
    requestId: requestIdOf(target.runId),
    timestamp: new Date().toISOString(),
    documentationBase: target.url,
  });
  return { status, contentType: JSON_TYPE, body: target.dialect?.wrapError(body, status) ?? body };
}

/** Answers with an error; when an answer has already begun, the connection is broken instead. `more`: further headers in turn. */
export function sendError(response: ServerResponse, error: AbpError, target: ErrorTarget, more: readonly string[] = []): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, contentType, body } = renderError(error, target);
  const words = JSON.stringify(body);
  const text = Buffer.from(target.redact?.(words) ?? words, 'utf8');
  response.writeHead(status, [
    'content-type',
    contentType,
    'content-length',
    String(text.length),
    'X-ABP-Run-Id',
    target.runId,
    'X-Should-Retry',
    String(error.retryable),
    ...allowHeader(error),
    ...limitHeaders(error, target.dialect),
    ...more,
    ...(closesConnection(error) || isUnfinished(response.req) ? ['connection', 'close'] : []),
  ]);
  response.end(text);
  if (isUnfinished(response.req)) leave(response);
}

/** How long a refused caller that still sends is listened to, so that it can read why; a reset would take the answer back. */
const LINGER_MS = 1000;

/** Whether a part of the request's body has not come yet. */
function isUnfinished(request: IncomingMessage): boolean {
  return !request.complete && (request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0);
}

/** Nobody reads the rest of a refused body: the connection ends when it is over, and in a moment at the latest. */
function leave({ req: request }: Pick<ServerResponse, 'req'>): void {
  const { socket } = request;
  request.resume();
  // Node would destroy the connection as soon as the answer is written, and what the caller still sends would then reset it.
  socket.destroySoon = () => socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
}

/** `Allow` for an answer that says which methods there are. */
function allowHeader(error: AbpError): string[] {
  const { allow } = error.details;
  return typeof allow === 'string' ? ['allow', allow] : [];
}

/** When to come back, and what is left of the measure that the call does not fit into, in the headers that SDKs of vendors read. */
function limitHeaders(
  { details: { limit, allowed, remaining, retry_after_s: seconds } }: AbpError,
  dialect: Dialect | undefined,
): string[] {
  if (typeof seconds !== 'number') return [];
  const measure = MEASURES[String(limit)];
  if (measure === undefined) return ['retry-after', String(seconds)];
  const told = { limit: String(allowed), remaining: String(remaining), reset: `${seconds}s` };
  return [
    ...['retry-after', String(seconds)],
    ...Object.entries(told).flatMap(([name, value]) => [`x-ratelimit-${name}-${measure}`, value]),
    ...(measure === 'concurrency'
      ? []
      : (dialect?.limitHeaders?.({
          measure,
          limit: Number(allowed),
          remaining: Number(remaining),
          resetsAt: Date.now() + seconds * 1000,
        }) ?? [])),
  ];
}

const MEASURES: Readonly<Record<string, 'requests' | 'tokens' | 'concurrency'>> = {
  requests_per_minute: 'requests',
  tokens_per_minute: 'tokens',
  concurrency: 'concurrency',
};

/** The rest of an unread body would be taken for the next request. */
function closesConnection(error: AbpError): boolean {
  return error.code === 'payload_too_large' || error.code === 'request_timeout' || error.code === 'overloaded';
}

/** Any throw as an error of the table. */
export function asAbpError(thrown: unknown): AbpError {
  if (AbpError.is(thrown)) return thrown;
  if (isAway(thrown)) return new AbpError('overloaded', 'The database of this server does not answer. Try again in a moment.');
  return new AbpError('internal', 'Something went wrong inside the backplane.');
}
