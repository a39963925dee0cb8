import type { IncomingMessage, ServerResponse } from 'node:http';
import { upstreamAddress } from '../../calls/address.ts';
import type { Deployment } from '../../calls/deployment.ts';
import { headerOf, upstreamHeaders, upstreamQuery } from '../../calls/headers.ts';
import { Recorder } from '../../calls/recorder.ts';
import { relay } from '../../calls/relay.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import { chooseEngine, engines } from '../../engines/index.ts';
import type { ExchangeRequest } from '../../upstream/exchange.ts';
import { authorize } from '../auth/access.ts';
import { isOurSecret, keyIdOf, type Principal, parentOf } from '../auth/principal.ts';
import type { Target } from '../door/target.ts';
import type { Gateway } from '../gateway.ts';
import { rawRecordingFor } from '../recording.ts';
import { HttpAnswer } from './answer.ts';

/** A call to a path that no dialect describes: files, batches, whatever the vendor adds tomorrow. */
export interface RawCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly runId: RunId;
  readonly target: Target;
  readonly principal: Principal;
}

/** Passes bytes both ways without looking at them; the body streams through and is never held. */
export function handleRaw(gateway: Gateway, call: RawCall): void {
  const { request, response, runId, target } = call;
  const deployment = rawDeployment(gateway, call);
  const recorder = new Recorder(gateway.keeper, gateway.live, runId);
  recorder.open(rawFacts(gateway, call, deployment.engine.id));
  const ours = oursOf(gateway);
  const sent: ExchangeRequest = {
    ...upstreamAddress(deployment, request.rawHeaders, `${target.path}${upstreamQuery(target.query, deployment, ours)}`),
    method: request.method ?? 'GET',
    headers: withLength(upstreamHeaders(request.rawHeaders, deployment, ours), request),
    body: hasBody(request) ? request : null,
    silenceMs: deployment.silenceMs,
    runHex: runId.slice(4),
  };
  const exchange = relay(sent, {
    deployment,
    dialect: undefined,
    recorder,
    answer: new HttpAnswer(response, { runId, url: gateway.url }),
    onTaken: () => undefined,
    onFault: (error) => gateway.log.error({ error, run: runId }, 'the answer of a run could not be read'),
  });
  response.on('drain', () => exchange.resume());
  response.once('close', () => {
    if (!response.writableFinished) exchange.abort();
  });
}

/** The engine that the path names, if the caller may use it raw. */
export function rawDeployment(gateway: Gateway, { target, principal }: Pick<RawCall, 'target' | 'principal'>): Deployment {
  const engine = chooseEngine(target.engine ?? '')?.engine;
  if (engine === undefined) {
    throw new AbpError('not_found', `There is no engine "${target.engine}". Known are ${engines.map(({ id }) => id).join(', ')}.`);
  }
  authorize(principal, { kind: 'vendor', engine: engine.id, raw: true });
  const deployment = gateway.deployments.get(engine.id);
  if (deployment === undefined || deployment.origin === '') {
    throw new AbpError('not_found', `${engine.name} has no path ${target.path}.`, { engine: engine.id });
  }
  return deployment;
}

/** Tells our credentials from the caller's own. */
export function oursOf(gateway: Gateway): (secret: string) => boolean {
  return (secret) => isOurSecret(secret) || gateway.keys.isToken(secret);
}

function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

/** A streamed body keeps the length its sender declared; without one it is chunked. */
function withLength(headers: readonly string[], request: IncomingMessage): string[] {
  const length = headerOf(request.rawHeaders, 'content-length');
  return length === undefined || !hasBody(request) ? [...headers] : [...headers, 'content-length', length];
}

/** How a raw call begins. */
export function rawFacts(
  gateway: Gateway,
  { request, target, principal }: Omit<RawCall, 'response'>,
  engine: string,
): Parameters<Recorder['open']>[0] {
  return {
    plane: 'gateway',
    task: `${request.method} ${target.path} → ${engine}`,
    dialect: null,
    engine,
    backend: `engine:${engine}`,
    requestedModel: null,
    upstreamModel: null,
    mode: 'passthrough',
    compatibility: 'best_effort',
    negotiation: null,
    emulations: [],
    fidelity: [],
    request: null,
    upstreamRequest: null,
    recording: rawRecordingFor(gateway.config, principal),
    enforcement: 'enforced',
    tags: principal.kind === 'key' ? principal.key.tags : [],
    keyId: keyIdOf(principal),
    parent: parentOf(principal),
  };
}
