import { sha256 } from '../base/canonical-json.ts';
import { AbpError } from '../contract/errors.ts';
import type { Attempt, ReceiptUsage, ToolCallRecord } from '../contract/receipts/parts.ts';
import type { RunId } from '../contract/run-id.ts';
import type { Observed } from '../dialects/dialect.ts';
import { type Engine, pricesOf } from '../engines/engine.ts';
import { findEngine } from '../engines/index.ts';
import { tokensIn } from '../ir/token-estimate.ts';
import { NO_USAGE } from '../ir/usage.ts';
import { type AnswerRecord, NO_RECORD } from '../mapping/answers/account.ts';
import type { BodiesAside } from '../receipts/bodies/bodies-aside.ts';
import type { RequestMeta } from '../receipts/bodies/record.ts';
import type { Tape } from '../receipts/bodies/tape.ts';
import type { CloseFact, Digest, Fact } from '../receipts/journal/facts.ts';
import { isUnsent } from '../receipts/usage/unsent.ts';
import type { EngineNote } from '../upstream/exchange.ts';
import type { Admission, Admitted, EngineDoor } from './admission.ts';
import { toldUsage } from './answers/told-usage.ts';
import type { Batch, Step } from './batch.ts';
import type { Call } from './call.ts';
import type { Deployment } from './deployment.ts';
import type { LiveRuns } from './live-runs.ts';
import type { Opening } from './opening.ts';

/** Where facts go. */
export interface FactSink {
  append(fact: Fact): void;
  /** Where the bodies of a run go; undefined where they cannot be kept. */
  tape?(run: RunId, started: number): Tape | undefined;
  /** Writes large bodies of a run that has not begun; undefined where they cannot be kept. */
  putAside?(bodies: readonly Buffer[]): Promise<BodiesAside | undefined>;
}

/** How a run ended, as far as its recorder cannot know itself. */
export type Ending = Pick<CloseFact, 'status' | 'reason' | 'error' | 'response' | 'eventCount'> & {
  readonly observed?: Observed;
  /** The record of a translated answer. */
  readonly answer?: AnswerRecord;
  /** Our estimate of what a stream wrote, for one that does not tell. */
  readonly writtenTokens?: number;
  /** The answer came to its end, good or bad. */
  readonly whole?: boolean;
  /** We needed no more of it and let the engine go. */
  readonly cut?: boolean;
  /** Its cost, where that does not follow from its usage: an answer that is given again costs nothing. */
  readonly cost?: CloseFact['cost'];
};

/** A request with its body, as it is recorded. */
export interface RequestBody extends Omit<RequestMeta, 'sha256' | 'bytes'> {
  readonly body: Buffer;
}

/** The body as the caller sent it and, where that is another, as the engine gets it. */
export interface RequestBodies {
  readonly request: RequestBody;
  readonly sent: RequestBody | null;
  /** The file where large ones are already. */
  readonly aside?: BodiesAside | undefined;
}

const FAULT = { code: 'internal', message: 'something went wrong inside the backplane' };

/** A try that is followed by another, or a call that came to no engine. */
const GIVEN_UP = { status: 'dropped', usage: null, upstreamModel: null, nanoUsd: null } as const;

/** Services that all recorders share. */
export interface Recorders {
  readonly sink: FactSink;
  readonly batch: Pick<Batch, 'close'>;
  readonly live: LiveRuns;
}

/** Writes one run's facts: that it began, its marks, and once that it ended. */
export class Recorder {
  readonly #sink: FactSink;
  readonly #batch: Pick<Batch, 'close'>;
  readonly #live: LiveRuns;
  readonly #run: RunId;
  readonly #at: number;
  readonly #started = performance.now();
  #engine: string | null = null;
  /** The deployment of the engine that was tried last, where it has several. */
  #deployment: string | undefined;
  /** Where in the world that deployment serves, where it is bound to one place. */
  #servedIn: string | undefined;
  #requestBytes = 0;
  #emulations: Opening['emulations'] = [];
  #prices: string | null = null;
  /** The engine of a call whose model only its answer tells: the price may go by it. */
  #unnamed: Engine | undefined;
  #status: number | null = null;
  #dispatchedMs: number | null = null;
  #firstByteMs: number | null = null;
  #lastByteMs: number | null = null;
  /** An opening is in the journal, or waits for the next write. */
  #begun = false;
  #closed = false;
  #outcome: CloseFact['status'] | undefined;
  #earlier: Attempt[] = [];
  /** Tries that were sent. */
  #tries = 0;
  /** The try that was sent last is among the earlier ones: it failed, and perhaps no other takes its place. */
  #noted = false;
  #tape: Tape | undefined;
  #note: EngineNote | undefined;
  #admitted: Admitted | undefined;

  constructor({ sink, batch, live }: Recorders, run: RunId) {
    this.#sink = sink;
    this.#batch = batch;
    this.#live = live;
    this.#run = run;
    this.#at = Date.now();
  }

  /** The run begins, or goes on elsewhere: a later opening replaces what an earlier one said. */
  open(fact: Opening, bodies?: () => RequestBodies): void {
    this.#engine = fact.engine;
    this.#requestBytes = fact.request?.bytes ?? 0;
    this.#emulations = fact.emulations;
    const engine = fact.engine === null ? undefined : findEngine(fact.engine);
    this.#unnamed = fact.upstreamModel === null ? engine : undefined;
    this.#prices = (engine === undefined ? undefined : pricesOf(engine, fact.upstreamModel)) ?? null;
    this.#live.begin(this.#run, this.#at, fact.keyId);
    if (fact.recording === 'full' && bodies !== undefined) this.#record(fact, bodies());
    try {
      this.#sink.append({ ...fact, fact: 'open', run: this.#run, at: this.#at });
      this.#begun = true;
    } catch (error) {
      // A run that an earlier try has begun must still be ended.
      if (!this.#begun) this.drop();
      throw error;
    }
  }

  /** Asks for admission of the call, or of its next try; the end of the run settles it. Throws where a check refuses. */
  admit(admission: Admission, call: Call, door: EngineDoor): Admitted {
    this.#admitted?.settle(GIVEN_UP);
    this.#admitted = undefined;
    this.#admitted = admission.admit(call, door);
    return this.#admitted;
  }

  /** The beginning of the run is not in the journal, so it has no end: what its checks took is given back, and nobody waits for a receipt. */
  drop(): void {
    this.#closed = true;
    this.#live.forget(this.#run);
    this.#admitted?.settle(GIVEN_UP);
  }

  /** Where the bytes of the answer go; undefined unless the run is recorded in full. */
  get tape(): Tape | undefined {
    return this.#tape;
  }

  /** The bodies are written at once, so that nobody has to hold them while the engine answers. */
  #record(fact: Opening, { request, sent, aside }: RequestBodies): void {
    this.#tape ??= this.#sink.tape?.(this.#run, this.#started);
    if (this.#tape === undefined || fact.request === null) return;
    const { engine, keyId, tags, upstreamModel, requestedModel } = fact;
    const sentMeta = sent === null || fact.upstreamRequest === null ? null : metaOf(sent, fact.upstreamRequest);
    this.#tape.begin(
      {
        startedAt: this.#at,
        keyId,
        tags,
        engine,
        model: upstreamModel ?? requestedModel,
        request: metaOf(request, fact.request),
        sent: sentMeta,
      },
      { request: request.body, sent: sentMeta === null || sent === null ? null : sent.body, aside },
    );
  }

  /** A try that failed before its first byte, where the route allows another one. */
  attempted(status: number | null, error: string): void {
    if (this.#engine === null) return;
    this.#noted = true;
    this.#earlier.push(this.#try(this.#engine, status, error));
  }

  /** An engine that should have taken the place of a failed one, and may not or cannot. */
  declined(engine: string, { code, message }: AbpError): void {
    this.#earlier.push({ engine, status: null, error: `not called: ${code}: ${message}`, ms: 0 });
  }

  dispatched({ place, servedIn }: Pick<Deployment, 'place' | 'servedIn'>): void {
    this.#deployment = place?.name;
    this.#servedIn = servedIn;
    this.#dispatchedMs = this.#elapsed();
    this.#tries += 1;
    this.#noted = false;
  }

  /** How the run ended; undefined while it has not, or while its answer is still being read. */
  get outcome(): CloseFact['status'] | undefined {
    return this.#outcome;
  }

  /** How many tries were sent. */
  get tries(): number {
    return this.#tries;
  }

  firstByte(status: number, note?: EngineNote): void {
    this.#status = status;
    this.#note = note;
    this.#firstByteMs = this.#elapsed();
  }

  lastByte(): void {
    this.#lastByteMs = this.#elapsed();
  }

  /** The run broke off by a fault of ours after its beginning was written. */
  broke(error: unknown): void {
    if (AbpError.is(error)) this.refused(error);
    else this.close({ status: 'failed', reason: 'interrupted', error: FAULT, response: null, eventCount: 0 });
  }

  /** A run that was refused before any engine was called. */
  refused(error: AbpError): void {
    this.close({ status: 'failed', reason: 'refused', error: { code: error.code, message: error.message }, response: null, eventCount: 0 });
  }

  /** Where the end of a run waits for no more than its journal line. */
  ending(step: Step): void {
    this.#batch.close(step);
  }

  close(ending: Ending): void {
    if (this.#closed) return;
    this.#closed = true;
    const settled = this.#live.isCutting ? cutByUs(ending) : ending;
    const { status, reason, error, response, eventCount, observed, whole = false, cut = false } = settled;
    this.#outcome = status;
    const usage = servedAt(this.#usage(settled), this.#servedIn);
    // Before the fact: a reader who sees that the run has ended finds all its bodies.
    this.#tape?.end({ complete: whole, cut, sha256: response?.sha256 ?? null, bytes: response?.bytes ?? 0 });
    this.#sink.append({
      fact: 'close',
      run: this.#run,
      at: Date.now(),
      status,
      reason: reason ?? this.#note?.reason ?? null,
      error,
      response,
      eventCount,
      backendVersion: this.#note?.version ?? null,
      upstreamModel: observed?.model ?? null,
      usage,
      toolCalls: callRecords(observed?.toolCalls ?? []),
      emulations: this.#emulationsWith(ending.answer ?? NO_RECORD),
      answerFidelity: ending.answer?.fidelity ?? [],
      attempts: this.#attempts(error?.message ?? null),
      dispatchedMs: this.#dispatchedMs,
      firstByteMs: this.#firstByteMs,
      lastByteMs: this.#lastByteMs,
      cost: settled.cost ?? null,
      prices: this.#pricesOf(observed?.model),
      replayable: false,
    });
    this.#live.end(this.#run);
    const ended = { status, usage, upstreamModel: observed?.model ?? null, nanoUsd: null };
    this.#admitted?.settle(this.#cameToNobody(error) ? GIVEN_UP : ended);
  }

  /** Whether no engine got anything of the call: none has answered this try or one before it, and the error is one of those without a receiver. */
  #cameToNobody(error: Ending['error']): boolean {
    if (error === null || !isUnsent(error.code)) return false;
    return this.#firstByteMs === null && this.#earlier.every(({ status }) => status === null);
  }

  /** The emulations of the request and of its answer; none where the answer adds nothing to what the opening said. */
  #emulationsWith({ emulations }: AnswerRecord): CloseFact['emulations'] {
    if (emulations.length === 0) return [];
    const known = new Set(this.#emulations.map((one) => JSON.stringify(one)));
    const added = emulations.filter((one) => !known.has(JSON.stringify(one)));
    return added.length === 0 ? [] : [...this.#emulations, ...added];
  }

  #pricesOf(model: string | undefined): string | null {
    return this.#unnamed === undefined || model === undefined ? this.#prices : (pricesOf(this.#unnamed, model) ?? null);
  }

  /** An answer that tells no usage, or was broken off before it told all, has not used nothing. */
  #usage({ observed, writtenTokens = 0, error, response }: Ending): ReceiptUsage | null {
    const told = observed?.usage;
    if (error === null && response !== null && isAnswer(observed) && !isTold(told))
      return toldUsage({
        ...NO_USAGE,
        inputTokens: tokensIn(this.#requestBytes),
        outputTokens: writtenTokens || tokensIn(response.bytes),
        estimated: true,
      });
    // The engine works on in the background, and tells what that used when it is asked for the end.
    if (told === undefined && observed?.finish === 'pause') return null;
    if (writtenTokens === 0 || (told !== undefined && observed?.finish !== undefined)) return toldUsage(told);
    const { inputTokens, outputTokens } = told ?? { inputTokens: tokensIn(this.#requestBytes), outputTokens: 0 };
    return toldUsage({ ...NO_USAGE, ...told, inputTokens, outputTokens: Math.max(outputTokens, writtenTokens), estimated: true });
  }

  #attempts(error: string | null): CloseFact['attempts'] {
    if (this.#dispatchedMs === null || this.#engine === null || this.#noted) return this.#earlier;
    return [...this.#earlier, this.#try(this.#engine, this.#status, error)];
  }

  #try(engine: string, status: number | null, error: string | null): Attempt {
    const one = { engine, status, error, ms: round(this.#elapsed() - (this.#dispatchedMs ?? 0)) };
    return this.#deployment === undefined ? one : { ...one, deployment: this.#deployment };
  }

  #elapsed(): number {
    return round(performance.now() - this.#started);
  }
}

/** An answer of a model that has come to its end: its reader saw how. One that the vendor has only begun has used nothing yet. */
function isAnswer(observed: Observed | undefined): boolean {
  return observed?.finish !== undefined && observed.finish !== 'error' && observed.finish !== 'pause';
}

/** Some servers tell zeros where they do not count. */
function isTold(usage: Observed['usage']): boolean {
  return usage !== undefined && (usage.inputTokens + usage.outputTokens > 0 || usage.details !== undefined);
}

/** The usage of an answer with the only place where it can have been served, where there is one. */
function servedAt(usage: ReceiptUsage | null, region: string | undefined): ReceiptUsage | null {
  return usage === null || region === undefined ? usage : { ...usage, details: { region, ...usage.details } };
}

/** A stopping server closes the connections that are left: their callers did not go away. */
function cutByUs(ending: Ending): Ending {
  if (ending.status !== 'cancelled' || ending.reason !== 'client_closed') return ending;
  const error = { code: 'internal', message: 'the server was stopped before the answer had ended' };
  return { ...ending, status: 'failed', reason: 'interrupted', error };
}

function metaOf({ dialect, method, path, headers }: RequestBody, { sha256: digest, bytes }: Digest): RequestMeta {
  return { dialect, method, path, headers, sha256: digest, bytes };
}

/** Microseconds are enough. */
function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Calls of one answer that a receipt names one by one; no model makes as many. */
const MOST_CALLS = 500;

/** Further calls share a line, whose digest is that of all their arguments. */
function callRecords(calls: Observed['toolCalls']): ToolCallRecord[] {
  const rest = calls.slice(MOST_CALLS);
  if (rest.length === 0) return calls.map(toolCallRecord);
  const together = { name: `(${rest.length} more)`, arguments: rest.map((call) => `${call.name} ${call.arguments}`).join('\n') };
  return [...calls.slice(0, MOST_CALLS), together].map(toolCallRecord);
}

function toolCallRecord(call: Observed['toolCalls'][number]): ToolCallRecord {
  return { id: call.id ?? null, name: call.name, arguments_sha256: sha256(call.arguments), result_sha256: null };
}
