import type { LoopSignal } from '../../loop/signal.ts';
import type { StoredEvent } from '../../store/agent-plane/session-events.ts';

/** What an event that somebody else appended means for the turn under way. */
export function signalOf({ type, data }: StoredEvent): LoopSignal[] {
  if (type === 'input.message') return [{ kind: 'message' }];
  if (type !== 'approval.answered') return [];
  const note = typeof data.note === 'string' ? data.note : undefined;
  return [{ kind: 'approval', approvalId: String(data.approval_id), approved: data.approved === true, note }];
}

/** Whether the event says that the turn was ended from outside. */
export function cancels({ type, turnId }: StoredEvent, ownTurn: string): boolean {
  return type === 'turn.cancelled' && turnId === ownTurn;
}

/**
 * The signals with which a claimed turn begins. A message is part of the request that is made again; an answer only counts once it is
 * known which calls are still open.
 */
export function resuming(events: readonly StoredEvent[]): LoopSignal[] {
  const signals = events.flatMap(signalOf);
  const messages = signals.filter(({ kind }) => kind === 'message');
  return [...messages, { kind: 'taken-over' }, ...signals.filter(({ kind }) => kind !== 'message')];
}
