import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../base/canonical-json.ts';
import { AbpError } from '../contract/errors.ts';
import type { Recording } from '../contract/receipts/parts.ts';
import { newRunId, type RunId } from '../contract/run-id.ts';
import type { Compatibility } from '../contract/support.ts';
import type { IrEvent } from '../ir/event.ts';
import type { IrRequest } from '../ir/request.ts';
import type { IrResponse } from '../ir/response.ts';
import { mapOwn, type OwnMapping } from '../mapping/own-request.ts';
import type { Route, RouteRow } from '../mapping/route.ts';
import type { Digest } from '../receipts/journal/facts.ts';
import type { TurnedDown } from '../upstream/gate.ts';
import type { Admitted } from './admission.ts';
import { type Attempt, Attempts } from './attempts.ts';
import { namedAffinity } from './balancing/affinity.ts';
import { Placement } from './balancing/placement.ts';
import { type Call, type CallOwner, shareOfOwner } from './call.ts';
import type { CallContext } from './context.ts';
import type { Deployment } from './deployment.ts';
import { MustWait } from './limits/fair-queue.ts';
import { type BrokenOff, exchange } from './model-exchange.ts';
import { lesserRecording, type Opening, openingOf } from './opening.ts';
import { Recorder } from './recorder.ts';
import { BodyBound } from './token-bound.ts';

/** Services that our own calls to models share. */
export type ModelContext = Omit<CallContext, 'routes' | 'denied' | 'toolRules' | 'large' | 'cache' | 'counted' | 'isOurs' | 'onFault'>;

/** A request of ours to a model, and on whose behalf it is made. */
export interface ModelAsk {
  /** Where the call may go in turn. */
  readonly routes: readonly [Route, ...Route[]];
  readonly request: Omit<IrRequest, 'stream' | 'model'>;
  readonly compatibility: Compatibility;
  /** The task as the receipt tells it; we append the engine that did it. */
  readonly task: string;
  readonly owner: CallOwner;
  /** The session that the call goes on with: its calls stay on one deployment of an engine. */
  readonly conversation: string;
  readonly recording: Recording;
  readonly signal: AbortSignal;
  readonly onEvent: (event: IrEvent) => void;
  /** A try is about to be sent: to whom, and how long the request is. */
  readonly onTry?: (sent: SentTry) => void;
}

/** A try of a model call as it is sent. */
export interface SentTry {
  readonly runId: RunId;
  readonly route: Route;
  readonly bytes: number;
}

/** How a model call ended, and where the last try went. A refusal of ours and an error of the engine look alike to the turn that goes on. */
export type ModelOutcome = { readonly runId: RunId; readonly route: Route } & (
  | { readonly ok: true; readonly response: IrResponse; readonly ms: number }
  | BrokenOff
);

/**
 * Calls a model inside this process: no caller's dialect, no HTTP in front; the same checks, retries, fallbacks and receipt as for a
 * vendor's SDK. Never throws for a call that fails.
 */
export async function callModel(context: ModelContext, ask: ModelAsk): Promise<ModelOutcome> {
  const runId = newRunId();
  const recorder = new Recorder(context, runId);
  const started = performance.now();
  const placement = new Placement(context.deployments, { affinity: () => namedAffinity(ask.conversation) });
  const planning: Planning = { ask, runId, recorder, placement };
  const attempts = new Attempts(ask.routes, { placement, plan: (next: Route): ModelTry => planTry(context, planning, next) }, recorder);
  let [route] = ask.routes;
  try {
    for (let one = await firstTry(context, planning, route); ; ) {
      let next: Attempt<ModelTry> | undefined;
      const takeOver = (reason: TurnedDown): boolean => {
        next = attempts.after(reason);
        return next !== undefined;
      };
      route = one.route;
      const end = await exchange({
        ...one,
        ask,
        recorder,
        runId,
        version: context.version,
        holding: context.budget.holding(shareOfOwner(ask.owner)),
        takeOver: attempts.may() ? takeOver : undefined,
      });
      if (end.ok === true) return { ...end, runId, route, ms: performance.now() - started };
      if (end.ok === false) return { ...end, runId, route };
      if (next === undefined) throw new AbpError('internal', 'a try was taken over by none');
      await sleep(next.delayMs, undefined, { signal: ask.signal }).catch(() => cancelled(recorder));
      one = next.plan;
    }
  } catch (error) {
    if (!AbpError.is(error)) throw error;
    // Nobody is being called: what refused it now refuses it in a moment too, unless it says when it would not.
    const { retry_after_s: seconds } = error.details;
    const later = typeof seconds === 'number' && error.retryable ? { retryable: true, retryAfterMs: seconds * 1000 } : { retryable: false };
    return { ok: false, runId, route, error, ...later };
  }
}

/** A try that is journaled as the run's and may be sent. */
interface ModelTry {
  readonly route: Route;
  readonly deployment: Deployment;
  readonly admitted: Admitted;
  readonly mapping: OwnMapping;
  readonly body: Buffer;
  readonly streamed: boolean;
}

/** A call that is being planned. */
interface Planning {
  readonly ask: ModelAsk;
  readonly runId: RunId;
  readonly recorder: Recorder;
  readonly placement: Placement;
}

/** Plans the first try, once it finds room under the limits. */
async function firstTry(context: ModelContext, planning: Planning, route: Route): Promise<ModelTry> {
  try {
    return planTry(context, planning, route, 'first');
  } catch (error) {
    if (!(error instanceof MustWait)) throw error;
    const { place } = error;
    const leave = (): void => place.leave();
    planning.ask.signal.addEventListener('abort', leave, { once: true });
    await place.turn;
    planning.placement.restart();
    planning.ask.signal.removeEventListener('abort', leave);
    return planTry(context, planning, route, 'waited');
  }
}

/** Plans a try and writes it down; a call that may not even be tried once is a refused run. */
function planTry(context: ModelContext, { ask, runId, recorder, placement }: Planning, route: Route, which?: 'first' | 'waited'): ModelTry {
  const { engine, target, model, row } = route;
  const streamed = (engine.manifest.streaming ?? 'unsupported') !== 'unsupported';
  const request: IrRequest = { ...ask.request, model, stream: streamed };
  const tools = request.tools.map(({ name }) => name);
  const call: Call = {
    runId,
    way: 'turn',
    owner: ask.owner,
    engine: engine.id,
    model,
    dialect: null,
    mode: 'mapped',
    tools,
    mayWait: which === 'first',
  };
  let mapping: OwnMapping | undefined;
  try {
    mapping = mapOwn({ request, engine, target, compatibility: ask.compatibility, emulate: new Set(row?.emulate) });
    const body = Buffer.from(JSON.stringify(mapping.upstream.body), 'utf8');
    const bound = new BodyBound(body, { output: request.maxTokens, answers: 1, ways: [] });
    const deployment = placement.choose(route);
    const admitted = recorder.admit(context.admission, { ...call, bound }, deployment.door);
    bound.letGo();
    const { path, headers } = mapping.upstream;
    recorder.open(factsOf(call, ask, { row, mapping, digest: { sha256: sha256(body), bytes: body.length } }), () => ({
      request: { dialect: target.id, method: 'POST', path, headers: Object.entries(headers).flat(), body },
      sent: null,
    }));
    ask.onTry?.({ runId, route, bytes: body.length });
    return { route, deployment, admitted, mapping, body, streamed };
  } catch (error) {
    if (which !== undefined && AbpError.is(error)) {
      recorder.open(factsOf(call, ask, { row, mapping, digest: null }));
      recorder.refused(error);
    }
    throw error;
  }
}

/** The turn was stopped while nobody was being called. */
function cancelled(recorder: Recorder): never {
  recorder.close({ status: 'cancelled', reason: 'client_closed', error: null, response: null, eventCount: 0 });
  throw new AbpError('engine_failed', 'the call was cancelled between two tries');
}

/** How a try began. */
interface Begun {
  readonly row: RouteRow | undefined;
  readonly mapping: OwnMapping | undefined;
  readonly digest: Digest | null;
}

function factsOf(call: Call, ask: ModelAsk, { row, mapping, digest }: Begun): Opening {
  return openingOf(call, {
    task: `${ask.task} → ${call.engine}`,
    requestedModel: ask.routes[0].model,
    compatibility: ask.compatibility,
    ...(mapping === undefined ? {} : { negotiation: mapping.negotiation, emulations: mapping.emulations, fidelity: mapping.fidelity }),
    request: digest,
    upstreamRequest: digest,
    recording: lesserRecording(ask.recording, row?.recording) ?? ask.recording,
  });
}
