import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../base/canonical-json.ts';
import { AbpError } from '../contract/errors.ts';
import type { Recording } from '../contract/receipts/receipt.ts';
import { newRunId, type RunId } from '../contract/run-id.ts';
import type { Compatibility } from '../contract/support.ts';
import type { IrEvent } from '../ir/event.ts';
import type { IrRequest } from '../ir/request.ts';
import type { IrResponse } from '../ir/response.ts';
import { mapOwn, type OwnMapping } from '../mapping/own-request.ts';
import type { Route } from '../mapping/route.ts';
import type { Digest } from '../receipts/journal/facts.ts';
import type { Admission, Admitted } from './admission.ts';
import { Attempts } from './attempts.ts';
import { type BodyBudget, UNKEYED } from './bounds/body-budget.ts';
import type { CallOwner } from './call.ts';
import type { Deployment } from './deployment.ts';
import type { LiveRuns } from './live-runs.ts';
import { exchange } from './model-exchange.ts';
import { lesserRecording, type Opening, openingOf } from './opening.ts';
import { type FactSink, Recorder } from './recorder.ts';

/** What every model call of this process goes through. */
export interface ModelWay {
  readonly sink: FactSink;
  readonly live: LiveRuns;
  readonly admission: Admission;
  readonly budget: BodyBudget;
  readonly version: string;
}

/** A request of ours to a model, and on whose behalf it is made. */
export interface ModelAsk {
  /** Where the call may go in turn. */
  readonly routes: readonly [Route, ...Route[]];
  readonly deployments: ReadonlyMap<string, Deployment>;
  readonly request: Omit<IrRequest, 'stream' | 'model'>;
  readonly compatibility: Compatibility;
  /** What the receipt says is done; the engine that did it is added. */
  readonly task: string;
  readonly owner: CallOwner;
  readonly recording: Recording;
  readonly signal: AbortSignal;
  readonly onEvent: (event: IrEvent) => void;
}

/** How a model call ended, and where the last try went. A refusal of ours and an error of the engine look alike to the turn that goes on. */
export type ModelOutcome = { readonly runId: RunId; readonly route: Route } & (
  | { readonly ok: true; readonly response: IrResponse; readonly ms: number }
  | { readonly ok: false; readonly error: AbpError; readonly retryable: boolean; readonly retryAfterMs?: number }
);

/**
 * Calls a model inside this process: no caller's dialect, no HTTP in front; the same checks, retries, fallbacks and receipt as for a
 * vendor's SDK. Never throws for a call that fails.
 */
export async function callModel(way: ModelWay, ask: ModelAsk): Promise<ModelOutcome> {
  const runId = newRunId();
  const recorder = new Recorder(way.sink, way.live, runId);
  const started = performance.now();
  const planned = (route: Route): ModelTry => planTry(way, ask, route, recorder);
  const attempts = new Attempts(ask.routes, { plan: planned }, recorder);
  let [route] = ask.routes;
  try {
    for (let one = planned(route); ; ) {
      route = one.route;
      const end = await exchange({
        ...one,
        ask,
        recorder,
        runId,
        version: way.version,
        holding: way.budget.holding(ask.owner.keyId ?? UNKEYED),
        last: attempts.left === 0,
      });
      if (!('turnedDown' in end)) {
        return end.ok ? { ...end, runId, route, ms: performance.now() - started } : { ...end, runId, route };
      }
      const next = attempts.next(end.turnedDown);
      if (next === undefined) throw new AbpError('internal', 'an answer was turned down with no try left');
      await sleep(next.delayMs, undefined, { signal: ask.signal }).catch(() => cancelled(recorder));
      one = next.plan;
    }
  } catch (error) {
    if (!AbpError.is(error)) throw error;
    // Nobody is being called: what refused it now refuses it in a moment too.
    return { ok: false, runId, route, error, retryable: false };
  }
}

/** A try that is journaled as the run's and may be sent. */
export interface ModelTry {
  readonly route: Route;
  readonly deployment: Deployment;
  readonly admitted: Admitted;
  readonly mapping: OwnMapping;
  readonly body: Buffer;
  readonly streamed: boolean;
}

function planTry(way: ModelWay, ask: ModelAsk, route: Route, recorder: Recorder): ModelTry {
  const { engine, target, model, row } = route;
  const deployment = ask.deployments.get(engine.id);
  if (deployment === undefined) throw new AbpError('internal', `engine ${engine.id} has no deployment`);
  const streamed = (engine.manifest.streaming ?? 'unsupported') !== 'unsupported';
  const request: IrRequest = { ...ask.request, model, stream: streamed };
  let mapping: OwnMapping | undefined;
  try {
    mapping = mapOwn({ request, engine, target, compatibility: ask.compatibility, emulate: new Set(row?.emulate) });
    const body = Buffer.from(JSON.stringify(mapping.upstream.body), 'utf8');
    const tools = request.tools.map(({ name }) => name);
    const call = { way: 'turn', owner: ask.owner, engine: engine.id, model, dialect: target.id, mode: 'mapped', tools } as const;
    const admitted = recorder.admit(way.admission, call, deployment.door);
    const { path, headers } = mapping.upstream;
    recorder.open(factsOf(ask, route, mapping, { sha256: sha256(body), bytes: body.length }), () => ({
      request: { dialect: target.id, method: 'POST', path, headers: Object.entries(headers).flat(), body },
      sent: null,
    }));
    return { route, deployment, admitted, mapping, body, streamed };
  } catch (error) {
    if (AbpError.is(error)) {
      recorder.open(factsOf(ask, route, mapping, null));
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

function factsOf(ask: ModelAsk, { engine, model, row }: Route, mapping: OwnMapping | undefined, digest: Digest | null): Opening {
  return openingOf(ask.owner, {
    plane: 'agent',
    task: `${ask.task} → ${engine.id}`,
    dialect: null,
    engine: engine.id,
    backend: `engine:${engine.id}`,
    requestedModel: ask.routes[0].model,
    upstreamModel: model,
    mode: 'mapped',
    compatibility: ask.compatibility,
    negotiation: mapping?.negotiation ?? null,
    emulations: mapping?.emulations ?? [],
    fidelity: mapping?.fidelity ?? [],
    request: digest,
    upstreamRequest: digest,
    recording: lesserRecording(ask.recording, row?.recording) ?? ask.recording,
  });
}
