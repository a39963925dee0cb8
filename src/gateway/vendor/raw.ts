import type { IncomingMessage, ServerResponse } from 'node:http';
import { callRaw } from '../../calls/unread/raw.ts';
import type { UnreadCall } from '../../calls/unread/unread-call.ts';
import type { RunId } from '../../contract/run-id.ts';
import { type Principal, shareOf } from '../auth/principal.ts';
import type { Target } from '../door/target.ts';
import type { Gateway } from '../gateway.ts';
import { recordingFor } from '../recording.ts';
import { HttpAnswer } from './answer.ts';
import { readerOf } from './marks.ts';
import { namedDeployment, sessionOf } from './options.ts';
import { taggedOwner } from './tags.ts';

/** A request to a path that no dialect describes. */
export interface RawRequest {
  readonly request: IncomingMessage;
  readonly runId: RunId;
  readonly target: Target;
  readonly principal: Principal;
}

/** Passes a request and its answer on, both as streams. */
export function handleRaw(gateway: Gateway, one: RawRequest, response: ServerResponse): void {
  const { request, runId } = one;
  const answer = new HttpAnswer(response, {
    ...{ runId, url: gateway.url, redact: gateway.store.withoutSecrets },
    dialect: readerOf(request.headers, one.target.engine),
  });
  const exchange = callRaw(gateway.calls, unreadCall(gateway, one), hasBody(request) ? request : null, answer);
  response.on('drain', () => exchange.resume());
  response.once('close', () => {
    if (!response.writableFinished) exchange.abort();
  });
}

/** The request without HTTP. */
export function unreadCall({ config }: Gateway, { request, runId, target, principal }: RawRequest): UnreadCall {
  return {
    runId,
    method: request.method ?? 'GET',
    target,
    headers: request.rawHeaders,
    session: sessionOf(request.headers),
    deployment: namedDeployment(request.headers),
    owner: taggedOwner(request.headers, principal),
    share: shareOf(principal),
    recording: recordingFor(config, principal) === 'off' ? 'off' : 'digest',
  };
}

function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}
