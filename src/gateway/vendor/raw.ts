import type { IncomingMessage, ServerResponse } from 'node:http';
import { upstreamAddress } from '../../calls/address.ts';
import type { Admitted } from '../../calls/admission.ts';
import type { Deployment } from '../../calls/deployment.ts';
import { headerOf, upstreamHeaders, upstreamQuery } from '../../calls/headers.ts';
import { type Opening, openingOf } from '../../calls/opening.ts';
import { Recorder } from '../../calls/recorder.ts';
import { relay } from '../../calls/relay.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import { chooseEngine, engines } from '../../engines/index.ts';
import type { ExchangeRequest } from '../../upstream/exchange.ts';
import { isOurSecret, ownerOf, type Principal, shareOf } from '../auth/principal.ts';
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
  const deployment = rawDeployment(gateway, target);
  const { admitted, recorder } = openRaw(gateway, call, deployment, 'raw');
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
    admitted,
    deployment,
    dialect: countedBy(target.path, deployment),
    holding: gateway.budget.holding(shareOf(call.principal)),
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

/** Raw paths that are billed by the token, and the dialect whose answers tell the usage in the same words. */
const COUNTED: readonly (readonly [path: RegExp, dialect: string])[] = [
  [/\/responses\/compact$/, 'openai-responses'],
  [/\/embeddings$/, 'openai-chat'],
  [/\/interactions$/, 'gemini'],
];

function countedBy(path: string, { engine }: Deployment): Dialect | undefined {
  const dialect = COUNTED.find(([pattern]) => pattern.test(path))?.[1];
  return dialect !== undefined && engine.dialects.includes(dialect) ? findDialect(dialect) : undefined;
}

/** The engine that the path names. */
export function rawDeployment(gateway: Gateway, target: Target): Deployment {
  const engine = chooseEngine(target.engine ?? '')?.engine;
  if (engine === undefined) {
    throw new AbpError('not_found', `There is no engine "${target.engine}". Known are ${engines.map(({ id }) => id).join(', ')}.`);
  }
  const deployment = gateway.deployments.get(engine.id);
  if (deployment === undefined || deployment.origin === '') {
    throw new AbpError('not_found', `${engine.name} has no path ${target.path}.`, { engine: engine.id });
  }
  return deployment;
}

/** Asks for admission and journals the beginning of a call whose bytes nobody here reads; a refusal is a run too. */
export function openRaw(
  gateway: Gateway,
  call: Omit<RawCall, 'response'>,
  { engine, door }: Deployment,
  way: 'raw' | 'splice',
): { readonly admitted: Admitted; readonly recorder: Recorder } {
  const recorder = new Recorder(gateway.keeper, gateway.live, call.runId);
  const owner = ownerOf(call.principal);
  const facts = rawFacts(gateway, call, engine.id);
  const wanted = {
    way,
    owner,
    engine: engine.id,
    model: null,
    moreModels: reached(call, way),
    dialect: null,
    mode: 'passthrough',
  } as const;
  let admitted: Admitted;
  try {
    admitted = recorder.admit(gateway.admission, wanted, door);
  } catch (error) {
    if (AbpError.is(error)) {
      recorder.open(facts);
      recorder.refused(error);
    }
    throw error;
  }
  recorder.open(facts);
  return { admitted, recorder };
}

/** Reading a list or a file calls no model. What else is done on these paths, batches above all, may name any. */
function reached({ request: { method = 'GET' } }: Pick<RawCall, 'request'>, way: 'raw' | 'splice'): readonly string[] | 'unknown' {
  return way === 'raw' && (method === 'GET' || method === 'HEAD') ? [] : 'unknown';
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
function rawFacts(gateway: Gateway, { request, target, principal }: Omit<RawCall, 'response'>, engine: string): Opening {
  return openingOf(ownerOf(principal), {
    plane: 'gateway',
    task: `${request.method} ${target.path} → ${engine}`,
    dialect: null,
    engine,
    backend: `engine:${engine}`,
    requestedModel: null,
    mode: 'passthrough',
    compatibility: 'best_effort',
    request: null,
    recording: rawRecordingFor(gateway.config, principal),
  });
}
