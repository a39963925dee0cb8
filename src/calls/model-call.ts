import { sha256 } from '../base/canonical-json.ts';
import { parseJson } from '../base/json.ts';
import type { Capability } from '../contract/capability.ts';
import { AbpError } from '../contract/errors.ts';
import type { Recording } from '../contract/receipts/receipt.ts';
import { newRunId, type RunId } from '../contract/run-id.ts';
import type { Compatibility } from '../contract/support.ts';
import type { Dialect, Observed } from '../dialects/dialect.ts';
import { findDialect } from '../dialects/index.ts';
import { EngineFailure } from '../ir/engine-failure.ts';
import type { IrEvent } from '../ir/event.ts';
import { Fold, unfold } from '../ir/fold.ts';
import type { IrRequest } from '../ir/request.ts';
import type { IrError, IrErrorKind, IrResponse } from '../ir/response.ts';
import { AnswerChanges } from '../mapping/answer-changes.ts';
import type { Exchange, ExchangeFailure, ExchangeSink } from '../upstream/exchange.ts';
import type { Admission, Admitted } from './admission.ts';
import { BodyDigest } from './body-digest.ts';
import type { CallOwner } from './call.ts';
import type { Deployment } from './deployment.ts';
import { EngineStream } from './engine-stream.ts';
import { failureError } from './failure.ts';
import { engineHeaders, retryHints } from './headers.ts';
import type { LiveRuns } from './live-runs.ts';
import { type Lowering, lowerModelRequest } from './model-lowering.ts';
import { observedOf } from './observed.ts';
import { type FactSink, Recorder } from './recorder.ts';

/** What every model call of this process goes through. */
export interface ModelWay {
  readonly sink: FactSink;
  readonly live: LiveRuns;
  readonly admission: Admission;
  readonly version: string;
}

/** A request of ours to a model, and on whose behalf it is made. */
export interface ModelAsk {
  readonly deployment: Deployment;
  /** The dialect to speak; the engine's preferred one unless named. */
  readonly dialect?: string | undefined;
  readonly request: Omit<IrRequest, 'stream'>;
  readonly compatibility: Compatibility;
  readonly emulate: ReadonlySet<Capability>;
  readonly task: string;
  readonly owner: CallOwner;
  readonly recording: Recording;
  readonly signal: AbortSignal;
  readonly onEvent: (event: IrEvent) => void;
}

/** How a model call ended. A refusal of ours and an error of the engine look alike to whoever goes on. */
export type ModelOutcome =
  | { readonly ok: true; readonly runId: RunId; readonly response: IrResponse; readonly ms: number }
  | { readonly ok: false; readonly runId: RunId; readonly error: AbpError; readonly retryable: boolean; readonly retryAfterMs?: number };

const TRANSIENT: ReadonlySet<IrErrorKind> = new Set(['rate-limit', 'overloaded', 'timeout', 'server']);

/** Calls a model inside this process: no caller's dialect, no HTTP in front, the same checks and the same receipt. Never throws for a call that fails. */
export async function callModel(way: ModelWay, ask: ModelAsk): Promise<ModelOutcome> {
  const runId = newRunId();
  const recorder = new Recorder(way.sink, way.live, runId);
  const { engine } = ask.deployment;
  const target = findDialect(ask.dialect ?? engine.dialects[0] ?? '');
  if (target === undefined) throw new AbpError('internal', `the engine ${engine.id} names a dialect that does not exist`);
  const request: IrRequest = { ...ask.request, stream: (engine.manifest.streaming ?? 'unsupported') !== 'unsupported' };
  let lowering: Lowering | undefined;
  let body = Buffer.alloc(0);
  let admitted: Admitted;
  try {
    lowering = lowerModelRequest({ request, engine, target, compatibility: ask.compatibility, emulate: ask.emulate });
    body = Buffer.from(JSON.stringify(lowering.upstream.body), 'utf8');
    const { model, tools } = request;
    admitted = recorder.admit(
      way.admission,
      {
        ...{ way: 'turn', owner: ask.owner, engine: engine.id, model, dialect: target.id, mode: 'mapped' },
        tools: tools.map(({ name }) => name),
      },
      ask.deployment.door,
    );
  } catch (error) {
    if (!AbpError.is(error)) throw error;
    recorder.open(openingFacts(ask, request, lowering, null));
    recorder.refused(error);
    // Nobody was called: what refused it now refuses it in a moment too.
    return { ok: false, runId, error, retryable: false };
  }
  const { path, headers } = lowering.upstream;
  recorder.open(openingFacts(ask, request, lowering, { sha256: sha256(body), bytes: body.length }), () => ({
    request: { dialect: target.id, method: 'POST', path, headers: Object.entries(headers).flat(), body },
    sent: null,
  }));
  return await new Promise((resolve) => {
    new ModelExchange({ admitted, ask, target, lowering, recorder, runId, streamed: request.stream, resolve }).start(body, way.version);
  });
}

function openingFacts(
  ask: ModelAsk,
  { model }: IrRequest,
  lowering: Lowering | undefined,
  digest: { sha256: string; bytes: number } | null,
): Parameters<Recorder['open']>[0] {
  return {
    plane: 'agent',
    task: ask.task,
    dialect: null,
    engine: ask.deployment.engine.id,
    backend: `engine:${ask.deployment.engine.id}`,
    requestedModel: model,
    upstreamModel: model,
    mode: 'mapped',
    compatibility: ask.compatibility,
    negotiation: lowering?.negotiation ?? null,
    emulations: lowering?.emulations ?? [],
    fidelity: lowering?.fidelity ?? [],
    request: digest,
    upstreamRequest: digest,
    recording: ask.recording,
    enforcement: 'enforced',
    tags: ask.owner.tags,
    keyId: ask.owner.keyId,
    parent: ask.owner.parent,
  };
}

interface ExchangeOptions {
  readonly admitted: Admitted;
  readonly ask: ModelAsk;
  readonly target: Dialect;
  readonly lowering: Lowering;
  readonly recorder: Recorder;
  readonly runId: RunId;
  readonly streamed: boolean;
  readonly resolve: (outcome: ModelOutcome) => void;
}

class ModelExchange implements ExchangeSink {
  readonly #options: ExchangeOptions;
  readonly #started = performance.now();
  readonly #digest = new BodyDigest();
  readonly #fold = new Fold();
  readonly #filter: AnswerChanges;
  readonly #stream: EngineStream;
  #exchange: Exchange | undefined;
  #kept: Buffer[] = [];
  #status = 0;
  #headers: readonly string[] = [];
  #over = false;
  /** The engine's answer came to its end. */
  #whole = false;
  #unlisten: () => void = () => undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#filter = new AnswerChanges(options.lowering.changes);
    const { target } = options;
    this.#stream = new EngineStream(target.stepper(), (body) => target.liftError(502, {}, body));
  }

  start(body: Buffer, version: string): void {
    const { admitted, ask, lowering, recorder, runId, target } = this.#options;
    const { deployment, signal } = ask;
    recorder.dispatched();
    this.#exchange = admitted.send(
      {
        method: 'POST',
        origin: deployment.origin,
        path: `${deployment.basePath}${lowering.upstream.path}`,
        headers: engineHeaders(deployment, lowering.upstream.headers, version),
        body,
        json: lowering.upstream.body,
        silenceMs: deployment.silenceMs,
        runHex: runId.slice('run_'.length),
        dialect: target.id,
      },
      this,
    );
    const onAbort = (): void => this.#exchange?.abort();
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    this.#unlisten = () => signal.removeEventListener('abort', onAbort);
  }

  head(status: number, headers: readonly string[]): void {
    this.#status = status;
    this.#headers = headers;
    this.#options.recorder.firstByte(status);
    this.#options.recorder.tape?.engine.head(status, headers);
  }

  data(chunk: Buffer): boolean {
    if (this.#over) return true;
    this.#digest.update(chunk);
    this.#options.recorder.tape?.engine.chunk(chunk);
    if (this.#status >= 400 || !this.#options.streamed) this.#kept.push(chunk);
    else this.#see(this.#stream.read(chunk));
    if (this.#stream.broken) {
      this.#settle();
      this.#exchange?.abort();
    }
    return true;
  }

  end(trailers: readonly string[]): void {
    if (this.#over) return;
    this.#options.recorder.tape?.engine.trailers(trailers);
    this.#whole = true;
    if (this.#status >= 400) {
      this.#failed(this.#engineError());
      return;
    }
    if (this.#options.streamed) {
      this.#see(this.#stream.rest());
      if (this.#fold.response() === undefined && this.#fold.error === undefined) this.#see(this.#stream.end());
    } else this.#readWhole();
    if (!this.#over) this.#settle();
  }

  fail(failure: ExchangeFailure): void {
    if (this.#over) return;
    const error = failureError(failure, this.#options.ask.deployment);
    const cancelled = failure.kind === 'aborted';
    this.#close(cancelled ? 'cancelled' : 'failed', cancelled ? 'client_closed' : failure.kind, cancelled ? null : error);
    this.#options.resolve({ ok: false, runId: this.#options.runId, error, retryable: !cancelled && error.row.retryable });
  }

  #see(events: readonly IrEvent[]): void {
    for (const event of events) {
      for (const out of this.#filter.filter(event)) {
        this.#fold.push(out);
        this.#options.ask.onEvent(out);
      }
    }
  }

  #readWhole(): void {
    const parsed = parseJson(Buffer.concat(this.#kept).toString('utf8'));
    if (!parsed.ok) return;
    try {
      this.#see(unfold(this.#options.target.liftResponse(parsed.value)));
    } catch (thrown) {
      if (!(thrown instanceof EngineFailure)) throw thrown;
      this.#failed(thrown.error);
    }
  }

  #engineError(): IrError {
    const body = Buffer.concat(this.#kept).toString('utf8');
    return this.#options.target.liftError(this.#status, retryHints(this.#headers), body);
  }

  #settle(): void {
    const response = this.#fold.response();
    if (this.#fold.error !== undefined) this.#failed(this.#fold.error);
    else if (response === undefined) this.#failed({ kind: 'server', message: 'the answer has no end', status: this.#status });
    else {
      this.#close('completed', null, null, observedOf(response));
      this.#options.resolve({ ok: true, runId: this.#options.runId, response, ms: performance.now() - this.#started });
    }
  }

  #failed({ kind, message, status, retryAfterMs }: IrError): void {
    const { ask, runId, resolve } = this.#options;
    const error = new AbpError('engine_failed', `${ask.deployment.engine.name}: ${message}`, {
      backend_id: `engine:${ask.deployment.engine.id}`,
      kind,
      status,
    });
    this.#close('failed', 'engine_error', error);
    resolve({ ok: false, runId, error, retryable: TRANSIENT.has(kind), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  }

  #close(status: 'completed' | 'failed' | 'cancelled', reason: string | null, error: AbpError | null, observed?: Observed): void {
    this.#over = true;
    this.#unlisten();
    const { recorder } = this.#options;
    recorder.lastByte();
    recorder.close({
      status,
      reason,
      error: error === null ? null : { code: error.code, message: error.message },
      response: this.#status === 0 ? null : { status: this.#status, ...this.#digest.done().digest },
      eventCount: this.#options.streamed ? this.#stream.count : Math.min(this.#status, 1),
      whole: this.#whole,
      ...(observed === undefined ? {} : { observed }),
    });
  }
}
