import type { Command, EventDraft } from '../../../adapters/adapter.ts';
import { type Clock, isoTime } from '../../../base/clock.ts';
import { uuidv7Hex } from '../../../base/ids.ts';
import type { Json } from '../../../base/json.ts';
import type { ApprovalRecord } from '../../../contract/receipts/parts.ts';
import type { AgentEvent, EventOf } from '../../../contract/runs/event.ts';
import { AgentMuxError } from '../../../contract/runs/run-error.ts';
import type { PendingInteraction } from '../../../contract/runs/run-result.ts';
import type { InteractionAnswer, LocalRunOptions } from '../handle.ts';
import type { Deadlines } from '../process/deadlines.ts';
import { PendingInteractions } from './interactions.ts';
import { type Risk, riskAsked, riskOf } from './risk.ts';
import type { Verdict } from './tool-watch.ts';

/** A tool that somebody is asked about. */
export interface AskedTool {
  readonly toolCallId?: string;
  readonly toolName: string;
  readonly input: Json;
}

/** An answer to an approval. */
export interface Decision {
  readonly approve: boolean;
  readonly reason?: string;
}

/** An approval that nobody answers is denied after an hour, unless the run says otherwise. */
const ANSWER_MS = 3_600_000;
/** Approvals that a receipt names. */
const MOST_RECORDS = 1000;
/** Questions of one run that wait at the same time: nobody answers more, and a program asks as many as it likes. */
const MOST_WAITING = 5000;
/** Longer timers fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** A question that waits. */
interface Waiting {
  readonly askedAt: number;
  readonly tool: string;
  readonly risk: Risk;
  readonly timer: NodeJS.Timeout | undefined;
}

export interface ApprovalContext {
  readonly options: LocalRunOptions;
  /** The folder of the run, which risks are judged by. */
  readonly cwd: string;
  readonly clock: Clock;
  /** Silence is not counted while somebody is asked. */
  readonly deadlines: Deadlines;
  /** The verdict of a hook on the call, from before it was asked about. */
  verdictOn(interactionId: string): Verdict | undefined;
  /** Whether the running agent could be told. */
  tell(command: Command): boolean;
  emit(draft: EventDraft): void;
}

/** Whether somebody can answer approvals in this run. */
export function isAnswerable({ approvalMode, nonInteractive, onApprovalRequest }: LocalRunOptions): boolean {
  return approvalMode === 'prompt' && (nonInteractive !== true || onApprovalRequest !== undefined);
}

/** Decides what the approval mode decides, asks the caller about the rest, and carries the answers to the agent. */
export class Approvals {
  readonly questions: PendingInteractions;
  /** Every approval that was decided, in order. */
  readonly records: ApprovalRecord[] = [];
  readonly #context: ApprovalContext;
  readonly #waiting = new Map<string, Waiting>();
  /** Questions of our own: their answer goes to the gate that asks, not to the agent. */
  readonly #own = new Map<string, (decision: Decision) => void>();

  constructor(context: ApprovalContext) {
    this.#context = context;
    this.questions = new PendingInteractions(context.clock, (interaction, answer) => this.#deliver(interaction, answer));
  }

  /** Asks about a tool that the policy wants an approval for; no mode of the run answers that. */
  request({ toolName, toolCallId, input }: AskedTool): Promise<Decision> {
    if (this.#own.size >= MOST_WAITING)
      return Promise.resolve({ approve: false, reason: `${MOST_WAITING} questions of this run wait already` });
    const interactionId = `approval_${uuidv7Hex()}`;
    const { level } = riskOf(toolName, input, this.#context.cwd);
    const words = { action: toolName, detail: JSON.stringify(input), toolName, riskLevel: level };
    const decided = new Promise<Decision>((resolve) => this.#own.set(interactionId, resolve));
    this.#context.emit({ type: 'approval_request', interactionId, ...words, ...(toolCallId !== undefined && { toolCallId }) });
    return decided;
  }

  /** The risk of what an agent asks, read from facts where it says what it wants to do. */
  judged(draft: EventDraft): EventDraft {
    return draft.type === 'approval_request' ? { ...draft, riskLevel: riskAsked(draft, this.#context.cwd).level } : draft;
  }

  /** Nobody is waited for any more. */
  end(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    for (const decide of this.#own.values()) decide({ approve: false, reason: 'the run has ended' });
    this.#own.clear();
    this.questions.clear();
  }

  /** Opens the question before anybody is told of it, so that a listener can answer at once. */
  open(event: AgentEvent): void {
    if (event.type !== 'approval_request' && event.type !== 'input_required') return;
    if (event.type === 'approval_request' && this.#refusal(event) !== undefined) this.questions.settle(event.interactionId);
    else this.#wait(event);
  }

  /** Why the call is denied without a question; undefined where it is not. */
  #refusal({ interactionId }: EventOf<'approval_request'>): string | undefined {
    const verdict = this.#context.verdictOn(interactionId);
    if (verdict?.kind === 'deny') return verdict.reason;
    if (this.#context.options.approvalMode === 'deny') return 'approvals are denied in this run';
    return undefined;
  }

  /** An answer to a question, as `approve` and `deny` of the run give it. */
  answer(interactionId: string | undefined, answer: InteractionAnswer): void {
    if (this.questions.respondOldest(interactionId, answer)) return;
    this.#context.emit({ type: 'debug', level: 'warn', message: `${interactionId} had its answer already; this one came too late` });
  }

  /** Nobody is asked about a call that a hook denied, nor in `deny`. A callback speaks before `yolo` does. */
  decide(event: EventOf<'approval_request'>): void {
    const { approvalMode, onApprovalRequest } = this.#context.options;
    const refusal = this.#refusal(event);
    const respond = (answer: InteractionAnswer): void => this.#respond(event.interactionId, answer);
    if (refusal !== undefined) {
      this.#wait(event);
      respond({ approve: false, reason: refusal, by: 'rule' });
    } else if (onApprovalRequest !== undefined) {
      Promise.resolve(onApprovalRequest(event)).then(
        (approve) => respond(approve ? { approve, by: 'callback' } : { approve: false, by: 'callback' }),
        (error: unknown) => respond({ approve: false, reason: `the approval failed: ${String(error)}`, by: 'callback' }),
      );
    } else if (this.#own.has(event.interactionId)) return;
    else if (approvalMode === 'yolo') respond({ approve: true, by: 'mode yolo' });
    else if (!isAnswerable(this.#context.options)) respond({ approve: false, reason: 'nobody can answer in this run', by: 'nobody' });
  }

  ask(event: EventOf<'input_required'>): void {
    const { onInputRequired } = this.#context.options;
    if (onInputRequired === undefined) return;
    Promise.resolve(onInputRequired(event)).then(
      (text) => this.#respond(event.interactionId, { text }),
      (error: unknown) => this.#context.emit({ type: 'debug', level: 'warn', message: `no answer was given: ${String(error)}` }),
    );
  }

  /** Somebody else settled the question: the agent itself, or a hook of it. */
  settled(interactionId: string): void {
    if (!this.questions.withdraw(interactionId)) return;
    clearTimeout(this.#waiting.get(interactionId)?.timer);
    this.#waiting.delete(interactionId);
    this.#context.deadlines.release();
  }

  #wait(event: EventOf<'approval_request'> | EventOf<'input_required'>): void {
    this.questions.ask(event);
    this.#context.deadlines.hold();
    if (event.type === 'approval_request') this.#time(event);
  }

  /** Silence is an answer too: after a while it means no. */
  #time(event: EventOf<'approval_request'>): void {
    const { interactionId, toolName, action } = event;
    const { options, clock, cwd } = this.#context;
    clearTimeout(this.#waiting.get(interactionId)?.timer);
    const ms = options.approvalTimeout ?? ANSWER_MS;
    const late = { approve: false, reason: `nobody answered within ${ms} ms`, by: 'timeout' } as const;
    this.#waiting.set(interactionId, {
      askedAt: clock.now(),
      tool: toolName ?? action,
      risk: riskAsked(event, cwd),
      timer: ms === 0 ? undefined : setTimeout(() => this.#respond(interactionId, late), Math.min(ms, LONGEST_MS)),
    });
  }

  /** Answers that we give ourselves; the question may be gone by now. */
  #respond(id: string, answer: InteractionAnswer): void {
    if (!this.questions.has(id)) return;
    try {
      this.questions.respond(id, answer);
    } catch (error) {
      if (!(error instanceof AgentMuxError)) throw error;
      this.#context.emit({ type: 'debug', level: 'warn', message: error.message });
    }
  }

  #deliver({ id, type }: PendingInteraction, answer: InteractionAnswer): void {
    const { tell, deadlines, emit, verdictOn } = this.#context;
    if ('text' in answer && type === 'approval') {
      throw new AgentMuxError('VALIDATION_ERROR', 'An approval is answered with yes or no.', { id });
    }
    const own = this.#own.get(id);
    if (own === undefined && !tell(commandOf(id, answer, verdictOn(id))))
      throw new AgentMuxError('STDIN_NOT_AVAILABLE', 'The agent takes no answers while it runs.');
    deadlines.release();
    if ('text' in answer || type === 'input') return;
    this.#record(id, answer);
    this.#own.delete(id);
    own?.(answer);
    emit(answer.approve ? { type: 'approval_granted', interactionId: id } : { type: 'approval_denied', ...refusal(id, answer.reason) });
  }

  #record(id: string, answer: Exclude<InteractionAnswer, { readonly text: string }>): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    clearTimeout(waiting.timer);
    this.#waiting.delete(id);
    if (this.records.length >= MOST_RECORDS) return;
    const { askedAt, tool, risk } = waiting;
    this.records.push({
      id,
      tool,
      risk: risk.level,
      facts: [...risk.facts],
      decision: answer.approve ? 'approved' : 'denied',
      by: answer.by ?? 'the caller',
      reason: answer.reason ?? null,
      asked_at: isoTime(askedAt),
      waited_ms: Math.max(0, this.#context.clock.now() - askedAt),
    });
  }
}

function commandOf(id: string, answer: InteractionAnswer, verdict: Verdict | undefined): Command {
  if ('text' in answer) return { kind: 'message', text: answer.text };
  if (!answer.approve) return { kind: 'deny', ...refusal(id, answer.reason) };
  return { kind: 'approve', interactionId: id, ...(verdict?.kind === 'change' && { input: verdict.input }) };
}

function refusal(interactionId: string, reason: string | undefined): { interactionId: string; reason?: string } {
  return { interactionId, ...(reason === undefined ? {} : { reason }) };
}
