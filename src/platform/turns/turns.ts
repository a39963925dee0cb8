import type { JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { cancelledBy } from '../../loop/machine.ts';
import { type CallState, spentBetween, type TurnState } from '../../loop/state.ts';
import { getAgent } from '../../store/agent-plane/agents.ts';
import { type Intervened, type Intervention, intervene } from '../../store/agent-plane/intervention.ts';
import type { StoredEvent } from '../../store/agent-plane/session-events.ts';
import type { StoredSession } from '../../store/agent-plane/sessions.ts';
import { getTurn, isEnded, type StoredTurn } from '../../store/agent-plane/turns.ts';
import type { SessionParts } from '../parts.ts';
import { sessionSettings } from '../sessions/session-settings.ts';
import { checkpointJson, checkpointOf } from './checkpoint.ts';
import { cutAnswer } from './model-side.ts';
import { type TurnOpening, turnClosed, turnOpened } from './turn-receipt.ts';
import type { Worker } from './worker.ts';

function noTurn({ id }: StoredSession): AbpError {
  return new AbpError('conflict', 'The session is at rest; there is no turn to end.', { session_id: id });
}

/** Ends the turn under way at once, also where its worker is gone or runs elsewhere. What its model has written is kept where it is written here. */
export async function cancelTurn(parts: SessionParts, worker: Worker, session: StoredSession, reason: string): Promise<string> {
  const { turnId } = session;
  const known = turnId === null ? undefined : await getTurn(parts.store, turnId);
  if (turnId === null || known === undefined || isEnded(known.status)) throw noTurn(session);
  await tellOpened(parts, session, known);
  const soFar = parts.deltas.answerSoFar(session.id);
  const cut = soFar === undefined ? undefined : await cutAnswer(soFar);
  let ended: TurnState | undefined;
  const { turn, sequence, at } = await touch(parts, worker, session, (held) => {
    if (isEnded(held.status)) throw noTurn(session);
    const checkpoint = checkpointOf(held.checkpoint);
    const isAsked = checkpoint.state.phase === 'model' && checkpoint.state.messageId === soFar?.messageId;
    const { state, records } = cancelledBy(held.id, checkpoint.state, reason, isAsked ? cut : undefined);
    ended = state;
    return {
      ...{ events: records, status: 'cancelled', sessionStatus: 'idle' },
      checkpoint: checkpointJson({ ...checkpoint, state }),
      spent: spentBetween(checkpoint.state, state),
    };
  });
  const { state: before, events } = checkpointOf(turn.checkpoint);
  const state = ended ?? before;
  const since = sequence - turn.sequence;
  parts.calls.sink.append(turnClosed({ turnId, startedAt: turn.createdAt, at, status: 'cancelled', state, events: events + since }));
  return turnId;
}

/** Nobody may have worked on the turn yet, and a receipt has a beginning. A full disk does not keep a turn from being ended. */
async function tellOpened(parts: SessionParts, session: StoredSession, turn: StoredTurn): Promise<void> {
  const opened = turnOpened(parts, await openingOf(parts, session, turn));
  try {
    parts.calls.sink.append(opened);
  } catch (error) {
    parts.log.warn({ error, turn: turn.id }, 'a turn is ended while the journal cannot be written; its receipt may be missing');
  }
}

async function openingOf({ store }: SessionParts, session: StoredSession, turn: StoredTurn): Promise<TurnOpening> {
  const { request, grant } = checkpointOf(turn.checkpoint);
  const { id: sessionId, agentId, keyId, document } = session;
  const agent = await getAgent(store, agentId);
  const agentModelName = agent?.document.model;
  return {
    ...{ turnId: turn.id, startedAt: turn.createdAt, sessionId, keyId, request, grant },
    agent: { id: agentId, name: agent?.name ?? '' },
    modelName: sessionSettings(document).model ?? (typeof agentModelName === 'string' ? agentModelName : null),
  };
}

/** An answer to the question whether a call may be made. */
export interface Answer {
  readonly approvalId: string;
  readonly approved: boolean;
  readonly note?: string | undefined;
}

/** Gives the answer to the turn that asked. An approved call is made as it stood in the question. */
export async function answerApproval(parts: SessionParts, worker: Worker, session: StoredSession, answer: Answer): Promise<JsonObject> {
  const { approvalId, approved, note } = answer;
  let call: CallState | undefined;
  if (session.turnId === null) throw noApproval(approvalId);
  await touch(parts, worker, session, (turn, since) => {
    call = askedCall(turn, since, approvalId);
    const data = { approval_id: approvalId, approved, tool_call_id: call.id, ...(note === undefined ? {} : { note }) };
    // A turn that still works on other calls finds the answer among the session's events.
    const rest: Partial<Intervention> = turn.status === 'waiting' ? { status: 'queued', sessionStatus: 'active' } : {};
    return { events: [{ type: 'approval.answered', data }], ...rest };
  });
  if (call === undefined) throw noApproval(approvalId);
  return { ...approvalView(call, session), status: approved ? 'approved' : 'denied' };
}

function askedCall(turn: StoredTurn, since: readonly StoredEvent[], approvalId: string): CallState {
  const call = checkpointOf(turn.checkpoint).state.calls.find(({ approval }) => approval?.id === approvalId);
  if (call === undefined || isEnded(turn.status)) throw noApproval(approvalId);
  const answered = since.some(({ type, data }) => type === 'approval.answered' && data.approval_id === approvalId);
  if (answered || call.stage !== 'asked') throw new AbpError('conflict', 'This was answered before.', { approval_id: approvalId });
  return call;
}

function noApproval(id: string): AbpError {
  return new AbpError('not_found', `Nobody waits for an answer to ${id}.`, { approval_id: id });
}

/** The questions that wait for an answer. */
export async function openApprovals({ store }: SessionParts, session: StoredSession): Promise<JsonObject[]> {
  const turn = session.turnId === null ? undefined : await getTurn(store, session.turnId);
  if (turn === undefined || isEnded(turn.status)) return [];
  const { calls } = checkpointOf(turn.checkpoint).state;
  return calls.filter(({ stage }) => stage === 'asked').map((call) => ({ ...approvalView(call, session), status: 'pending' }));
}

function approvalView({ approval, id, name, arguments: text }: CallState, session: StoredSession): JsonObject {
  return {
    id: approval?.id ?? '',
    session_id: session.id,
    turn_id: session.turnId,
    reason: approval?.reason ?? 'policy',
    tool_call: { id, name, arguments: text },
  };
}

async function touch(
  parts: SessionParts,
  worker: Worker,
  session: StoredSession,
  decide: (turn: StoredTurn, since: readonly StoredEvent[]) => Intervention,
): Promise<Intervened & { readonly at: number }> {
  const { store, hub, origin } = parts;
  const { id: sessionId, turnId } = session;
  if (turnId === null) throw noTurn(session);
  let decided: Intervention | undefined;
  const at = Date.now();
  const done = await intervene(store, { sessionId, turnId, at, origin }, (turn, since) => {
    decided = decide(turn, since);
    return decided;
  });
  if (done === undefined || decided === undefined) throw noTurn(session);
  hub.tell(sessionId, { kind: 'hint' });
  worker.hint(sessionId);
  if (decided.status === 'queued') await worker.offer(turnId);
  return { ...done, at };
}
