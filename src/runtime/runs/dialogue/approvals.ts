import type { Command, EventDraft } from '../../../adapters/adapter.ts';
import type { Clock } from '../../../base/clock.ts';
import type { AgentEvent, EventOf } from '../../../contract/runs/event.ts';
import { AgentMuxError } from '../../../contract/runs/run-error.ts';
import type { PendingInteraction } from '../../../contract/runs/run-result.ts';
import type { InteractionAnswer, LocalRunOptions } from '../handle.ts';
import type { Deadlines } from '../process/deadlines.ts';
import { PendingInteractions } from './interactions.ts';
import type { Verdict } from './tool-watch.ts';

export interface ApprovalContext {
  readonly options: LocalRunOptions;
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
  readonly #context: ApprovalContext;

  constructor(context: ApprovalContext) {
    this.#context = context;
    this.questions = new PendingInteractions(context.clock, (interaction, answer) => this.#deliver(interaction, answer));
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
      respond({ approve: false, reason: refusal });
    } else if (onApprovalRequest !== undefined) {
      Promise.resolve(onApprovalRequest(event)).then(
        (approve) => respond(approve ? { approve } : { approve: false }),
        (error: unknown) => respond({ approve: false, reason: `the approval failed: ${String(error)}` }),
      );
    } else if (approvalMode === 'yolo') respond({ approve: true });
    else if (!isAnswerable(this.#context.options)) respond({ approve: false, reason: 'nobody can answer in this run' });
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
    if (this.questions.withdraw(interactionId)) this.#context.deadlines.release();
  }

  #wait(event: EventOf<'approval_request'> | EventOf<'input_required'>): void {
    this.questions.ask(event);
    this.#context.deadlines.hold();
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
    if (!tell(commandOf(id, answer, verdictOn(id))))
      throw new AgentMuxError('STDIN_NOT_AVAILABLE', 'The agent takes no answers while it runs.');
    deadlines.release();
    if ('text' in answer || type === 'input') return;
    emit(answer.approve ? { type: 'approval_granted', interactionId: id } : { type: 'approval_denied', ...refusal(id, answer.reason) });
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
