import { upstreamAddress } from '../../calls/address.ts';
import type { Attempts } from '../../calls/attempts.ts';
import type { Deployment } from '../../calls/deployment.ts';
import { asidesOf, engineHeaders, upstreamHeaders, upstreamQuery, withoutHeader } from '../../calls/headers.ts';
import { callMapped } from '../../calls/mapped.ts';
import type { Recorder } from '../../calls/recorder.ts';
import { relay } from '../../calls/relay.ts';
import { AbpError } from '../../contract/errors.ts';
import { enginePath } from '../../dialects/paths.ts';
import { AnswerChanges } from '../../mapping/answer-changes.ts';
import type { Exchange, ExchangeRequest } from '../../upstream/exchange.ts';
import type { TurnedDown } from '../../upstream/gate.ts';
import { isOurSecret, shareOf } from '../auth/principal.ts';
import { asAbpError, sendError } from '../door/errors.ts';
import type { Gateway } from '../gateway.ts';
import { HttpAnswer } from './answer.ts';
import type { VendorCall } from './call.ts';
import type { Plan } from './plan.ts';

/** A planned call on its way. `release` gives the request body's memory back. */
export interface Dispatch {
  readonly call: VendorCall;
  readonly plan: Plan;
  /** Present where the route allows another try. */
  readonly attempts?: Attempts<Plan>;
  readonly recorder: Recorder;
  release(): void;
}

/** Calls the engine; the caller's leaving cancels it, the caller's slowness pauses it. */
export function dispatch(gateway: Gateway, one: Dispatch): void {
  const { response } = one.call;
  // What listens to the response must not hold the plan: its body would live as long as a slow stream.
  const { recorder, release } = one;
  const line: Line = { exchange: undefined, pause: undefined, closed: response.closed };
  response.on('drain', () => line.exchange?.resume());
  const onClose = (): void => {
    line.closed = true;
    if (response.writableFinished) return;
    if (line.pause === undefined) line.exchange?.abort();
    else leftBetweenTries({ recorder, release }, line);
  };
  send(gateway, one, line);
  // The caller may have left while its body was being decoded.
  if (response.closed) onClose();
  else response.once('close', onClose);
}

/** The try under way; it changes when one is given up for the next. */
interface Line {
  exchange: Exchange | undefined;
  /** Runs between two tries. */
  pause: NodeJS.Timeout | undefined;
  closed: boolean;
}

function send(gateway: Gateway, one: Dispatch, line: Line): void {
  const { plan, attempts } = one;
  const deployment = gateway.deployments.get(plan.route.engine.id);
  if (deployment === undefined) throw new AbpError('internal', `engine ${plan.route.engine.id} has no deployment`);
  const last = attempts === undefined || attempts.left === 0;
  const onTurnedDown = last ? undefined : (reason: TurnedDown): void => tryNext(gateway, one, line, reason);
  const sending: Sending = { gateway, deployment, one, onTurnedDown };
  line.exchange = plan.kind === 'relay' ? relayed(sending, plan) : translated(sending, plan);
}

/** Gives this try up for the next, once that can be planned. */
function tryNext(gateway: Gateway, one: Dispatch, line: Line, reason: TurnedDown): void {
  const ready = one.attempts?.ready();
  if (ready === undefined) {
    sendNext(gateway, one, line, reason);
    return;
  }
  // A caller who leaves meanwhile is noticed when the try is planned.
  line.exchange = undefined;
  const go = (): void => sendNext(gateway, one, line, reason);
  ready.then(go, go);
}

function sendNext(gateway: Gateway, one: Dispatch, line: Line, reason: TurnedDown): void {
  try {
    const next = one.attempts?.next(reason);
    if (next === undefined) throw new AbpError('internal', 'an answer was turned down with no try left');
    line.pause = setTimeout(() => {
      line.pause = undefined;
      send(gateway, { ...one, plan: next.plan }, line);
    }, next.delayMs);
    if (line.closed) leftBetweenTries(one, line);
  } catch (error) {
    one.release();
    sendError(one.call.response, asAbpError(error), { runId: one.call.runId, url: gateway.url, dialect: one.call.match.dialect });
  }
}

/** The caller left while nobody was being called. */
function leftBetweenTries(one: Pick<Dispatch, 'recorder' | 'release'>, line: Line): void {
  clearTimeout(line.pause);
  line.pause = undefined;
  one.recorder.close({ status: 'cancelled', reason: 'client_closed', error: null, response: null, eventCount: 0 });
  one.release();
}

function answerOf(gateway: Gateway, { response, runId, match }: VendorCall): HttpAnswer {
  return new HttpAnswer(response, { runId, url: gateway.url, dialect: match.dialect });
}

/** One try of a call. */
interface Sending {
  readonly gateway: Gateway;
  readonly deployment: Deployment;
  readonly one: Dispatch;
  readonly onTurnedDown: ((reason: TurnedDown) => void) | undefined;
}

function relayed({ gateway, deployment, one, onTurnedDown }: Sending, plan: Extract<Plan, { kind: 'relay' }>): Exchange {
  const { request, runId, target, match } = one.call;
  const ours = (secret: string): boolean => isOurSecret(secret) || gateway.keys.isToken(secret);
  const headers = upstreamHeaders(request.rawHeaders, deployment, ours);
  const path = `${enginePath(match, target.path, plan.route.model)}${upstreamQuery(target.query, deployment, ours)}`;
  const sent: ExchangeRequest = {
    ...upstreamAddress(deployment, request.rawHeaders, path),
    method: match.path.method,
    headers: plan.decoded ? withoutHeader(headers, 'content-encoding') : headers,
    body: plan.body,
    silenceMs: deployment.silenceMs,
    runHex: runId.slice(4),
    dialect: match.dialect.id,
    asides: asidesOf(request.rawHeaders, deployment),
  };
  return relay(sent, {
    admitted: plan.admitted,
    onTurnedDown,
    deployment,
    dialect: match.path.operation === 'generate' ? match.dialect : undefined,
    recorder: one.recorder,
    holding: gateway.budget.holding(shareOf(one.call.principal)),
    answer: answerOf(gateway, one.call),
    onTaken: one.release,
    onFault: (error) => gateway.log.error({ error, run: runId }, 'the answer of a run could not be read'),
  });
}

function translated({ gateway, deployment, one, onTurnedDown }: Sending, plan: Extract<Plan, { kind: 'translate' }>): Exchange | undefined {
  const { runId, target, match } = one.call;
  const { asked, changes } = plan;
  const answer = answerOf(gateway, one.call);
  const counting = match.path.operation === 'count-tokens';
  if (counting && plan.route.target.lowerCount === undefined) {
    estimate(one, answer, match.dialect.tokenCount(asked.inputTokens ?? 0));
    return undefined;
  }
  const way = {
    ...(counting ? { count: true } : {}),
    context: {
      runHex: runId.slice(4),
      createdAtMs: Date.now(),
      model: match.model ?? asked.model,
      includeUsage: asked.includeUsage,
      query: target.query,
      ...(asked.echo === undefined ? {} : { echo: asked.echo }),
    },
  };
  const [engine, caller] = [plan.route.target, match.dialect];
  const sent: ExchangeRequest = {
    method: 'POST',
    origin: deployment.origin,
    path: `${deployment.basePath}${plan.path}`,
    headers: engineHeaders(deployment, plan.headers, gateway.version),
    body: plan.body,
    silenceMs: deployment.silenceMs,
    runHex: runId.slice(4),
    dialect: plan.route.target.id,
    asides: asidesOf(one.call.request.rawHeaders, deployment),
  };
  return callMapped(sent, {
    admitted: plan.admitted,
    onTurnedDown,
    deployment,
    recorder: one.recorder,
    holding: gateway.budget.holding(shareOf(one.call.principal)),
    answer,
    onTaken: one.release,
    streamed: asked.stream && !counting,
    translation: { ...way, engine, caller, filter: new AnswerChanges(changes) },
    aside: (body) => gateway.large.translate(body, { ...way, engine: engine.id, caller: caller.id, changes }),
  });
}

/** An engine without a count endpoint: the count is our estimate, and the receipt says that no engine was called. */
function estimate(one: Dispatch, answer: HttpAnswer, count: object): void {
  const body = Buffer.from(JSON.stringify(count), 'utf8');
  const headers = ['content-type', 'application/json; charset=utf-8', 'content-length', String(body.length)];
  one.recorder.tape?.caller.head(200, headers);
  one.recorder.tape?.caller.chunk(body);
  one.recorder.close({ status: 'completed', reason: 'estimated', error: null, response: null, eventCount: 1, whole: true });
  answer.head(200, headers);
  answer.write(body);
  answer.end([]);
  one.release();
}
