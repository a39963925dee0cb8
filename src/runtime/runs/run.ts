import { setTimeout as sleep } from 'node:timers/promises';
import type { Command, EventDraft } from '../../adapters/adapter.ts';
import { newRunId, parseNamedRunId, type RunId } from '../../contract/run-id.ts';
import type { AgentEvent, EventName, EventOf } from '../../contract/runs/event.ts';
import { AgentMuxError } from '../../contract/runs/run-error.ts';
import type { RunResult, RunState } from '../../contract/runs/run-result.ts';
import type { GatewayPort } from '../gateway-port.ts';
import { joinPolicies } from '../policy/rules.ts';
import { explainedByEngine } from './books/engine-watch.ts';
import { type Ending, endingOf, failedEnding, STOPS, type StopReason, stopIn } from './books/outcome.ts';
import { resultOf } from './books/result.ts';
import { modelOf, type RunAccount, Settlement, toldBy } from './books/settlement.ts';
import { Watches } from './books/watches.ts';
import type { RunDeps } from './deps.ts';
import { type CalledHooks, gateTools } from './dialogue/approval-gate.ts';
import { Approvals, isAnswerable } from './dialogue/approvals.ts';
import { Conversation } from './dialogue/conversation.ts';
import { Hooks } from './dialogue/hooks.ts';
import { announcements } from './events/announcements.ts';
import { type EarlierSession, earlierSession, sessionEvents } from './events/earlier-session.ts';
import { Telling } from './events/telling.ts';
import type { GatedRun } from './gated-run.ts';
import type { Interactions, LocalRunOptions, QueueTime, RunHandle } from './handle.ts';
import { type Prepared, prepare } from './prepare.ts';
import { type AgentEnd, AgentProcess } from './process/agent-process.ts';
import { Deadlines } from './process/deadlines.ts';
import { endLeftovers } from './process/run-folder.ts';
import { mayRetry, retryDelay } from './retry.ts';

/** A run that is cancelled has ended within five seconds, whatever its agent does. */
const GRACE_MS = 3500;

/** One run of a coding agent, from its first check to its receipt. */
export class Run implements RunHandle {
  readonly runId: RunId;
  readonly agent: string;
  readonly #gated: GatedRun;
  #options: LocalRunOptions;
  readonly #deps: RunDeps;
  readonly #startedAt: number;
  /** The id is one that the caller has made, and nobody else may have it. */
  #unclaimed: boolean;
  readonly #telling: Telling;
  readonly #hooks: Hooks;
  /** The caller's own functions; a policy that wants approvals stands before the one that sees tools. */
  readonly #called: CalledHooks;
  readonly #approvals: Approvals;
  readonly #conversation: Conversation;
  readonly #deadlines: Deadlines;
  readonly #over: Promise<RunResult>;
  #watches: Watches | undefined;
  #process: AgentProcess | undefined;
  #state: RunState = 'spawned';
  #stop: StopReason | undefined;
  /** Why we ended it, where that is not always the same. */
  #why: string | undefined;
  readonly #stopped = new AbortController();
  #interrupted = false;
  #told = false;
  #earlier: EarlierSession = { turns: undefined };
  #ended = false;

  /** `runId` is an id that is taken already; without it the caller's own is claimed, or one is made. */
  constructor(gated: GatedRun, deps: RunDeps, runId?: RunId) {
    const { adapter, options } = gated;
    const named = runId === undefined && options.runId !== undefined ? parseNamedRunId(options.runId) : undefined;
    this.runId = runId ?? named ?? newRunId();
    this.#unclaimed = named !== undefined;
    this.agent = adapter.agent;
    this.#gated = gated;
    this.#options = options;
    this.#deps = deps;
    this.#startedAt = deps.clock.now();
    const { stream, collectEvents } = options;
    const { clock, onEvent } = deps;
    const prepare = (event: AgentEvent): void => this.#approvals.open(event);
    this.#telling = new Telling({ stream, collectEvents, runId: this.runId, agent: this.agent, clock, prepare, onEvent });
    this.#deadlines = new Deadlines({
      totalMs: options.timeout,
      silenceMs: options.inactivityTimeout,
      onExpired: (kind) => this.#end(kind === 'run' ? 'timeout' : 'inactivity'),
    });
    const emit = (draft: EventDraft): void => this.#emit(draft);
    const tell = (command: Command): boolean => this.#active().tell(command);
    this.#called = { ...options.hooks };
    this.#hooks = new Hooks({
      hooks: this.#called,
      agent: this.agent,
      runId: this.runId,
      clock,
      sessionId: () => this.#telling.tally.sessionId,
      takesInput: adapter.takesInput === true,
      deadlines: this.#deadlines,
      // A hook may answer when the agent is gone.
      tell: (command) => this.#process?.tell(command) ?? false,
      emit,
      remark: (level, message) => this.#emit({ type: 'debug', level, message }),
    });
    const verdictOn = (id: string) => this.#hooks.verdictOn(id);
    this.#approvals = new Approvals({ options, cwd: gated.cwd, clock, deadlines: this.#deadlines, verdictOn, tell, emit });
    this.#conversation = new Conversation({ adapter, options, answerable: isAnswerable(options), tell, emit });
    // Begun in a later turn of the event loop, so that the caller who gets the handle can listen before the first event.
    this.#over = Promise.resolve().then(() => this.#live());
  }

  get state(): RunState {
    return this.#state;
  }

  get interaction(): Interactions {
    return this.#approvals.questions;
  }

  on<N extends EventName>(type: N, listener: (event: EventOf<N>) => void): this {
    this.#telling.stream.on(type, listener);
    return this;
  }

  off<N extends EventName>(type: N, listener: (event: EventOf<N>) => void): this {
    this.#telling.stream.off(type, listener);
    return this;
  }

  once<N extends EventName>(type: N, listener: (event: EventOf<N>) => void): this {
    this.#telling.stream.once(type, listener);
    return this;
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
    return this.#telling.stream.reader();
  }

  result(): Promise<RunResult> {
    return this.#over;
  }

  // biome-ignore lint/suspicious/noThenProperty: a handle can be awaited for its result
  then<A = RunResult, B = never>(
    onFulfilled?: ((result: RunResult) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#over.then(onFulfilled, onRejected);
  }

  catch<T>(onRejected: (reason: unknown) => T): Promise<RunResult | T> {
    return this.#over.catch(onRejected);
  }

  finally(onSettled: () => void): Promise<RunResult> {
    return this.#over.finally(onSettled);
  }

  send(text: string): void {
    this.#conversation.send(text);
    this.#goesOn();
  }

  queue(text: string, { when = 'next-turn' }: { readonly when?: QueueTime } = {}): void {
    if (this.#ended) throw new AgentMuxError('RUN_NOT_ACTIVE', 'The run has ended.', { state: this.#state });
    this.#conversation.queue(text, when);
  }

  steer(text: string): void {
    this.#conversation.steer(text);
  }

  continue(text = 'Continue.'): void {
    this.#conversation.release(text);
    this.#deadlines.release();
    this.#goesOn();
  }

  #goesOn(): void {
    this.#interrupted = false;
    this.#telling.forget('interrupted');
    this.#state = 'running';
  }

  approve(interactionId?: string): void {
    this.#approvals.answer(interactionId, { approve: true });
  }

  deny(interactionId?: string, reason?: string): void {
    this.#approvals.answer(interactionId, { approve: false, ...(reason === undefined ? {} : { reason }) });
  }

  interrupt({ hold = false }: { readonly hold?: boolean } = {}): void {
    const agent = this.#active();
    if (hold) {
      this.#conversation.hold();
      this.#deadlines.hold();
    }
    this.#interrupted = true;
    this.#state = 'interrupted';
    this.#emit({ type: 'interrupted' });
    if (!agent.tell({ kind: 'interrupt' })) agent.signal('SIGINT');
  }

  async abort(): Promise<void> {
    this.#end('aborted');
    await this.#over;
  }

  pause(): void {
    const agent = this.#active();
    if (this.#state === 'paused') throw new AgentMuxError('INVALID_STATE_TRANSITION', 'The run is paused already.');
    this.#state = 'paused';
    this.#deadlines.hold();
    // SIGTSTP has no effect on a group without a terminal.
    agent.signal('SIGSTOP');
    this.#emit({ type: 'paused' });
  }

  resume(): void {
    const agent = this.#active();
    if (this.#state !== 'paused') throw new AgentMuxError('INVALID_STATE_TRANSITION', 'The run is not paused.');
    this.#state = 'running';
    agent.signal('SIGCONT');
    this.#deadlines.release();
    this.#emit({ type: 'resumed' });
  }

  #active(): AgentProcess {
    if (this.#process === undefined) throw new AgentMuxError('RUN_NOT_ACTIVE', 'The agent is not running.', { state: this.#state });
    return this.#process;
  }

  async #live(): Promise<RunResult> {
    const [{ adapter, cwd }, stopped, tell] = [this.#gated, this.#stopped.signal, (draft: EventDraft): void => this.#emit(draft)];
    const settlement = new Settlement({ adapter, options: this.#options, runId: this.runId, cwd, deps: this.#deps, stopped, tell });
    let ending: Ending;
    try {
      const port = await this.#deps.gateway();
      // Before there are books: those of another run must not be closed.
      if (this.#unclaimed) await port.claim(this.runId);
      this.#unclaimed = false;
      settlement.through(port);
      this.#options = await this.#hooks.prompted(this.#options, this.#stopped.signal);
      settlement.prompted(this.#options);
      ending = await this.#drive(port, settlement);
    } catch (error) {
      ending = failedEnding(error, this.#stop);
      this.#tellFailure(ending);
    }
    this.#deadlines.stop();
    this.#watches?.stop();
    this.#approvals.end();
    this.#process = undefined;
    this.#ended = true;
    this.#conversation.end();
    // Those of the id belong to the run that has it.
    if (!this.#unclaimed) endLeftovers(this.runId);
    await this.#hooks.ended(ending, this.#telling.tally);
    const { ending: last, ...spent } = await this.#settled(settlement, ending);
    if (last !== ending) this.#tellFailure(last);
    this.#state = last.state;
    this.#telling.end();
    const durationMs = this.#deps.clock.now() - this.#startedAt;
    const { tally, collected: events } = this.#telling;
    return resultOf({ run: this, options: this.#options, tally, ending: last, spent, durationMs, events });
  }

  /** A run whose receipt cannot be written has still ended; a caller who waits for it must hear so. */
  async #settled(settlement: Settlement, ending: Ending): Promise<RunAccount> {
    try {
      return await settlement.close(ending, this.#telling.tally, this.#approvals.records);
    } catch (error) {
      this.#emit({ type: 'debug', level: 'warn', message: `the receipt could not be written: ${String(error)}` });
      return { ...toldBy(this.#telling.tally), model: modelOf(this.#options, this.#gated.adapter), ending };
    }
  }

  async #drive(port: GatewayPort, settlement: Settlement): Promise<Ending> {
    gateTools(this.#called, joinPolicies(port.policy ?? {}, this.#options.policy ?? {}), (tool) => this.#approvals.request(tool));
    const prepared = await prepare(
      {
        ...this.#gated,
        options: this.#options,
        runId: this.runId,
        deps: this.#deps,
        answerable: isAnswerable(this.#options),
        interactive: false,
        ...this.#hooks.consulted(this.#options),
        remark: (message) => this.#emit({ type: 'debug', level: 'warn', message }),
      },
      port,
    );
    this.#earlier = await earlierSession(this.#gated.adapter, this.#options, this.#deps.env);
    this.#hooks.starting({ waits: prepared.waitsFor !== 'nothing' });
    await settlement.open(prepared);
    for (const draft of announcements(this.#options, { ...this.#gated, ...prepared })) this.#emit(draft);
    this.#deadlines.start();
    this.#watches = new Watches({ port, run: this.runId, options: this.#options, prepared }, (reason, why) => this.#end(reason, why));
    for (let attempt = 1; ; attempt += 1) {
      const end = await this.#attempt(prepared);
      const ending = endingOf({ ...end, untested: prepared.detected.untested, why: this.#why }, this.#stop, this.#interrupted);
      const policy = this.#options.retryPolicy;
      const failure = { code: ending.error?.code ?? '', attempt, acted: this.#telling.tally.acted };
      if (this.#stop !== undefined || !mayRetry(policy, failure)) {
        const told = prepared.traffic.kind === 'gateway' ? await explainedByEngine(ending, port, this.runId) : ending;
        this.#tellFailure(told);
        return told;
      }
      const delayMs = retryDelay(policy, attempt + 1);
      this.#emit({ type: 'retry', attempt: attempt + 1, maxAttempts: policy.maxAttempts, reason: failure.code, delayMs });
      await sleep(delayMs, undefined, { signal: this.#stopped.signal });
    }
  }

  async #attempt(prepared: Prepared): Promise<AgentEnd> {
    if (this.#stop !== undefined) throw new AgentMuxError('ABORTED', 'The run was stopped before its agent started.');
    const graceMs = this.#options.gracePeriodMs ?? GRACE_MS;
    const agent = await AgentProcess.start(this.#gated.adapter, prepared, {
      graceMs,
      hear: (drafts) => this.#hear(drafts),
      wait: (tools) => this.#hooks.waits(tools),
      goesOn: () => this.#goesOnAfterAnswer(),
    });
    this.#process = agent;
    this.#state = 'running';
    this.#deps.onProcess?.(agent.pid);
    if (this.#stop !== undefined) agent.stop();
    const end = await agent.end;
    this.#process = undefined;
    return end;
  }

  #goesOnAfterAnswer(): boolean {
    if (this.#stop !== undefined) return false;
    const goesOn = this.#conversation.answered({ interrupted: this.#interrupted });
    if (this.#interrupted) return goesOn;
    const next = { end: () => this.#process?.finish(), goOn: (text: string) => this.send(text) };
    return this.#hooks.answered(this.#telling.tally, !goesOn && this.#conversation.listens ? next : undefined) || goesOn;
  }

  #hear(drafts: readonly EventDraft[]): void {
    this.#deadlines.heard();
    for (const draft of drafts.map((one) => this.#approvals.judged(one))) if (!this.#hooks.holds(draft)) this.#emit(draft);
  }

  #emit(draft: EventDraft): void {
    const event = this.#telling.tell(draft);
    if (event === undefined) return;
    this.#react(event);
    this.#conversation.heard(event);
    this.#hooks.heard(event);
  }

  #react(event: AgentEvent): void {
    switch (event.type) {
      case 'session_start':
        for (const draft of sessionEvents(event, this.#earlier)) this.#emit(draft);
        break;
      case 'turn_start':
        if (this.#options.maxTurns !== undefined && this.#telling.tally.turnCount > this.#options.maxTurns) this.#end('turn_limit');
        break;
      case 'aborted':
      case 'turn_limit':
      case 'timeout':
        // The agent reached it by itself, and ends by itself.
        this.#stop ??= stopIn(event);
        break;
      case 'cost':
        this.#watches?.heardCost(event.cost.totalUsd);
        break;
      case 'approval_request':
        this.#approvals.decide(event);
        break;
      case 'input_required':
        this.#approvals.ask(event);
        break;
      case 'approval_granted':
      case 'approval_denied':
        this.#approvals.settled(event.interactionId);
        break;
      case 'error':
      case 'auth_error':
      case 'rate_limit_error':
      case 'context_exceeded':
      case 'crash':
        this.#told = true;
        break;
    }
  }

  #end(reason: StopReason, why?: string): void {
    if (this.#stop !== undefined) return;
    this.#stop = reason;
    this.#why = why;
    this.#stopped.abort();
    this.#emit(STOPS[reason].event(this.#options, why));
    this.#process?.stop();
  }

  #tellFailure({ error, exit, exitReason }: Ending): void {
    if (error === null || this.#told || this.#stop !== undefined) return;
    if (exitReason === 'crashed' || exitReason === 'killed') this.#emit({ type: 'crash', exitCode: exit.code, stderr: error.stderr });
    else this.#emit({ type: 'error', code: error.code, message: error.message, recoverable: error.recoverable });
  }
}
