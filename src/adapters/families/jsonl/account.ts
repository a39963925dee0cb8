import type { Clock } from '../../../base/clock.ts';
import type { AgentLimit, EventDraft, Outcome, ProcessExit, SpawnPlan } from '../../adapter.ts';
import { type Failure, failureInErrors, type ReadFailure, readFailure } from '../lines/failure.ts';
import { Spending } from '../lines/spending.ts';
import { Spoken } from '../lines/spoken.ts';
import { ToolCalls } from '../tools/calls.ts';
import type { ToolReading } from '../tools/effects.ts';

/** How the output of one agent is understood. */
export interface Voice {
  readonly tools: ToolReading;
  /** How a user makes this agent know them. */
  readonly guidance: string;
}

/**
 * Keeps count of one run of an agent from its lines. A turn is one answer of the model with the tools that it called, whatever
 * the agent itself calls a turn: so a limit of turns means the same for every agent.
 */
export class RunAccount {
  readonly calls: ToolCalls;
  readonly spoken = new Spoken();
  readonly spending = new Spending();
  sessionId: string | undefined;
  /** The failure that the agent told last; a later answer of the model takes it back. */
  failure: (Failure & ReadFailure) | undefined;
  /** The agent has said by itself that its work is done. */
  answered = false;
  turns = 0;
  /** The limit of the run at which the agent stopped before its work was done. */
  limit: AgentLimit | undefined;
  readonly #plan: SpawnPlan;
  readonly #voice: Voice;
  #inTurn = false;

  constructor(plan: SpawnPlan, voice: Voice, clock: Clock) {
    this.#plan = plan;
    this.#voice = voice;
    this.calls = new ToolCalls(voice.tools, plan.cwd, clock);
  }

  /** The session is known; agents tell it more than once. */
  begun(sessionId: string | undefined): readonly EventDraft[] {
    if (sessionId === undefined || this.sessionId !== undefined) return [];
    this.sessionId = sessionId;
    const { sessionId: resumed, forkSessionId: forkedFrom } = this.#plan.options;
    return [{ type: 'session_start', sessionId, resumed: resumed !== undefined, ...(forkedFrom !== undefined && { forkedFrom }) }];
  }

  turnStarts(): readonly EventDraft[] {
    const before = this.turnEnds();
    this.#inTurn = true;
    this.turns += 1;
    return [...before, { type: 'turn_start', turnIndex: this.turns - 1 }];
  }

  /** A turn, unless one is under way. */
  inTurn(): readonly EventDraft[] {
    return this.#inTurn ? [] : this.turnStarts();
  }

  turnEnds(): readonly EventDraft[] {
    if (!this.#inTurn) return [];
    this.#inTurn = false;
    const cost = this.spending.cost();
    return [...this.spoken.end(), { type: 'turn_end', turnIndex: this.turns - 1, ...(cost !== undefined && { cost }) }];
  }

  /** The last failure counts. It is told at the end, when it is known that nothing followed. */
  fail(failure: Failure): void {
    this.failure = { ...failure, ...readFailure(failure, this.#voice.guidance) };
  }

  /** The output ended. An agent that neither finished nor failed in its own words died, whatever its exit code is. */
  close(exit: ProcessExit): { readonly events: readonly EventDraft[]; readonly outcome: Outcome } {
    const { sessionId, turns } = this;
    const failure = this.failure ?? this.#lastWords(exit);
    const cost = this.spending.cost();
    const ending: readonly EventDraft[] = [
      ...this.spoken.end(),
      ...this.turnEnds(),
      ...(failure === undefined ? [] : [failure.event]),
      ...(sessionId === undefined ? [] : [sessionEnd(sessionId, turns, cost)]),
    ];
    if (failure !== undefined) return { events: ending, outcome: { ok: false, code: failure.code, message: failure.message } };
    if (this.limit !== undefined) {
      return { events: ending, outcome: { ok: false, code: 'ABORTED', message: LIMITS[this.limit], limit: this.limit } };
    }
    if (this.answered) return { events: ending, outcome: { ok: true } };
    const message = `the agent ended before it answered (${exit.signal ?? `exit code ${exit.code}`})`;
    return { events: ending, outcome: { ok: false, code: 'AGENT_CRASH', message } };
  }

  /** The failure in the error output of an agent that ended without telling one; one that we killed has nothing to explain. */
  #lastWords({ signal, stderr = '' }: ProcessExit): (Failure & ReadFailure) | undefined {
    if (this.answered || this.limit !== undefined || signal !== null) return undefined;
    return failureInErrors(stderr, this.#voice.guidance);
  }
}

const LIMITS: Readonly<Record<AgentLimit, string>> = {
  turn_limit: 'the agent has used all its turns',
  budget: 'the agent has used up its budget',
  interrupted: 'the agent was interrupted',
};

function sessionEnd(sessionId: string, turnCount: number, cost: ReturnType<Spending['cost']>): EventDraft {
  return { type: 'session_end', sessionId, turnCount, ...(cost !== undefined && { cost }) };
}
