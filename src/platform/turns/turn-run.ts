import { AbpError } from '../../contract/errors.ts';
import { advanceAll, allSeen, endedBy, overBudget, type Step, standing } from '../../loop/machine.ts';
import type { LoopCommand, LoopSignal, ModelFailure } from '../../loop/signal.ts';
import { type CallState, spentBetween, type TurnState } from '../../loop/state.ts';
import { listEvents, type StoredEvent } from '../../store/agent-plane/session-events.ts';
import type { StepOutcome } from '../../store/agent-plane/turn-step.ts';
import { commitStep } from '../../store/agent-plane/turn-writer.ts';
import { runOfTurn } from '../ids.ts';
import type { SessionParts } from '../parts.ts';
import { runTool } from '../tools/tool-run.ts';
import { checkpointJson } from './checkpoint.ts';
import { modelSignal } from './model-side.ts';
import { turnClosed, turnOpened } from './turn-receipt.ts';
import { cancels, signalOf, type TurnWork } from './turn-work.ts';

/** How the work on a turn ended here; `lost` = somebody else has it, or nobody any more. */
export type TurnResult = 'completed' | 'failed' | 'waiting' | 'lost';

/** Works on one turn until it ends, waits, or is lost. All that happens goes through one queue, and each round of it is one commit. */
export class TurnRun {
  readonly #parts: SessionParts;
  readonly #work: TurnWork;
  readonly #abort = new AbortController();
  readonly #done = Promise.withResolvers<TurnResult>();
  #state: TurnState;
  #sequence: number;
  #signals: LoopSignal[] = [];
  #look = false;
  #pumping = false;
  #over = false;

  constructor(parts: SessionParts, work: TurnWork) {
    this.#parts = parts;
    this.#work = work;
    this.#state = work.checkpoint.state;
    this.#sequence = work.sequence;
    this.#signals = [...work.signals];
  }

  get sessionId(): string {
    return this.#work.sessionId;
  }

  /** Rejects when the database fails; the turn stays as the last commit left it. */
  get done(): Promise<TurnResult> {
    return this.#done.promise;
  }

  /** Throws when the journal cannot be written: no turn goes on without a record. */
  start(): void {
    const { request, grant } = this.#work.checkpoint;
    const opened = turnOpened(this.#parts, { ...this.#work, request, grant });
    this.#parts.calls.traces?.adopt(opened.run, grant.traceparent);
    this.#parts.calls.sink.append(opened);
    this.#pump();
  }

  /** Something may have been appended to the session. */
  hint(): void {
    this.#look = true;
    this.#pump();
  }

  /** Stops working without a word to the database: the turn is somebody else's from here on. */
  drop(): void {
    this.#finish('lost');
  }

  #push(signal: LoopSignal): void {
    this.#signals.push(signal);
    this.#pump();
  }

  #pump(): void {
    if (this.#pumping || this.#over) return;
    this.#pumping = true;
    this.#rounds().catch((error: unknown) => {
      this.#close();
      this.#done.reject(error);
    });
  }

  async #rounds(): Promise<void> {
    while (!this.#over && (this.#signals.length > 0 || this.#look)) {
      if (this.#look) await this.#lookOutside();
      if (!this.#over && this.#signals.length > 0) await this.#round();
    }
    this.#pumping = false;
  }

  /** Reads what others have appended and takes it in. */
  async #lookOutside(): Promise<void> {
    this.#look = false;
    const { sessionId, turnId, transcript } = this.#work;
    const events = await listEvents(this.#parts.store, { sessionId, after: this.#sequence });
    for (const event of events) transcript.apply(event);
    this.#sequence = events.at(-1)?.sequence ?? this.#sequence;
    if (events.some((event) => cancels(event, turnId))) this.#finish('lost');
    // Before what is waiting: an answer that comes in now was given without them.
    this.#signals.unshift(...events.flatMap(signalOf));
  }

  async #round(): Promise<void> {
    const signals = this.#signals;
    this.#signals = [];
    const step = advanceAll(this.#work.frame, this.#state, signals);
    // A change of our own mind need not be written; that the turn stands still must be, for the next worker that claims it.
    const quiet = step.records.length === 0 && standing(step.state, undefined) === 'running';
    const outcome = quiet ? 'committed' : await this.#commit(step);
    if (this.#over) return;
    if (outcome === 'fenced') this.#finish('lost');
    else if (outcome === 'behind') {
      // The machine is pure: the same signals are played again after what came in between.
      this.#signals.unshift(...signals);
      this.#look = true;
    } else this.#proceed(step);
  }

  async #commit(step: Step): Promise<StepOutcome> {
    const { store, origin, hub, workerId } = this.#parts;
    const { turnId, sessionId, epoch, checkpoint, transcript } = this.#work;
    const at = Date.now();
    const stands = standing(step.state, endedBy(step.records));
    const turnEvents = this.#sequence + step.records.length - this.#work.before;
    const outcome = await commitStep(store, {
      ...{ turnId, sessionId, epoch, at, origin, events: step.records, expected: this.#sequence },
      checkpoint: checkpointJson({ ...checkpoint, state: { ...step.state, epoch }, events: turnEvents }),
      owner: stands === 'running' ? workerId : null,
      status: stands,
      sessionStatus: { running: 'active', waiting: 'waiting', completed: 'idle', failed: 'idle' }[stands] as 'active' | 'waiting' | 'idle', // the values above
      spent: spentBetween(this.#state, step.state),
    });
    if (outcome !== 'committed') return outcome;
    if (stands === 'completed' || stands === 'failed') {
      const { startedAt } = this.#work;
      this.#parts.calls.sink.append(turnClosed({ turnId, startedAt, at, status: stands, state: step.state, events: turnEvents }));
    }
    const events = step.records.map(
      ({ type, data }, index): StoredEvent => ({ sessionId, turnId, type, data, at, sequence: this.#sequence + 1 + index }),
    );
    for (const event of events) transcript.apply(event);
    this.#sequence += events.length;
    if (hub.isHeard(sessionId)) hub.tell(sessionId, { kind: 'stored', events });
    return outcome;
  }

  #proceed(step: Step): void {
    this.#state = step.state;
    const stands = standing(step.state, endedBy(step.records));
    if (stands !== 'running') this.#finish(stands);
    else for (const command of step.commands) this.#obey(command);
  }

  #obey(command: LoopCommand): void {
    if (command.kind === 'run-call') void this.#runCall(command.call);
    else if (command.delayMs === 0) void this.#callModel(command.attempt);
    else setTimeout(() => void this.#callModel(command.attempt), command.delayMs).unref();
  }

  async #callModel(attempt: number): Promise<void> {
    const { agent, frame, model, sessionId } = this.#work;
    if (this.#over || model === undefined) return;
    const forbidden = overBudget(frame.limits, this.#state.spent.costNanoUsd);
    if (forbidden !== undefined) {
      this.#push({ kind: 'model-failed', failure: forbidden });
      return;
    }
    this.#state = allSeen(this.#state);
    try {
      const signal = await modelSignal(this.#parts, model, {
        agent,
        transcript: this.#work.transcript,
        turnId: this.#work.turnId,
        messageId: this.#state.messageId,
        // Unique among all tries of all owners, and growing.
        attempt: (this.#work.epoch - 1) * TRIES + attempt,
        signal: this.#abort.signal,
      });
      this.#push(signal);
    } catch (error) {
      this.#parts.log.error({ error, session: sessionId }, 'a model call failed inside');
      this.#push({ kind: 'model-failed', failure: failureOf(error) });
    }
  }

  async #runCall(call: CallState): Promise<void> {
    const { agent, sessionId, turnId, model } = this.#work;
    const [at, started] = [Date.now(), performance.now()];
    const end = await runTool({
      ...{ call, sessionId, agentId: agent.id, workspaces: this.#parts.workspaces, signal: this.#abort.signal },
      tool: agent.tools.find(({ name }) => name === call.name),
      behalf: model && { turnId, keyId: model.keyId, tags: model.grant.tags, recording: model.grant.recording },
      onFault: (error) => this.#parts.log.error({ error, session: sessionId, tool: call.name }, 'a tool failed inside'),
    });
    const ms = Math.round(performance.now() - started);
    const [run, { id, name }] = [runOfTurn(turnId), call];
    const error = end.status === 'success' ? undefined : end.status;
    if (run !== null) this.#parts.calls.traces?.toolEnded(run, { id, name, at, ms, error, sessionId });
    this.#push({ kind: 'call-ended', id, end, ms });
  }

  #finish(result: TurnResult): void {
    if (this.#over) return;
    this.#close();
    this.#parts.deltas.end(this.#work.sessionId);
    if (result !== 'lost') this.#parts.transcripts.putBack(this.#work.sessionId, this.#work.transcript);
    this.#done.resolve(result);
  }

  #close(): void {
    this.#over = true;
    this.#signals = [];
    this.#abort.abort(OVER);
  }
}

/** Made once: a turn ends often, and a stack trace of it helps nobody. */
const OVER = new Error('the turn is over here');

/** As many tries as the machine makes at most for one answer. */
const TRIES = 3;

function failureOf(error: unknown): ModelFailure {
  return AbpError.is(error)
    ? { code: error.code, message: error.message, retryable: false }
    : { code: 'internal', message: 'Something went wrong inside the backplane.', retryable: false };
}
