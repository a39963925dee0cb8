import type { JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { IrPart } from '../../ir/part.ts';
import { opening } from '../../loop/records.ts';
import { freshState } from '../../loop/state.ts';
import { listEvents, type StoredEvent } from '../../store/agent-plane/session-events.ts';
import { getSession } from '../../store/agent-plane/sessions.ts';
import type { Appended, DraftEvent } from '../../store/agent-plane/turn-step.ts';
import { appendMessage } from '../../store/agent-plane/turn-writer.ts';
import { isVisible, type Visible, visibleTo } from '../../store/agent-plane/visible.ts';
import { newId } from '../ids.ts';
import type { SessionParts } from '../parts.ts';
import { type Checkpoint, checkpointJson, type TurnGrant } from '../turns/checkpoint.ts';
import { messageDigest } from '../turns/turn-receipt.ts';
import type { Worker } from '../turns/worker.ts';
import { partsJson } from './content.ts';
import { MESSAGE_EVENTS, messageView } from './session-event.ts';

export interface NewMessage {
  readonly sessionId: string;
  readonly visible: Visible;
  readonly parts: readonly IrPart[];
  readonly metadata?: JsonObject | undefined;
  /** The sender's grant for a turn that the message begins. */
  readonly grant: TurnGrant;
}

/** Sends a message to a session. It begins a turn, or waits for the next step of the one under way. */
export async function sendMessage(parts: SessionParts, worker: Worker, message: NewMessage): Promise<JsonObject> {
  const { sessionId, visible, grant } = message;
  const [id, turnId, answerId] = [newId('msg'), newId('turn'), newId('msg')];
  const at = Date.now();
  const input: DraftEvent = {
    type: 'input.message',
    data: {
      message: {
        ...{ id, role: 'user', parts: partsJson(message.parts) },
        ...(message.metadata === undefined ? {} : { metadata: message.metadata }),
      },
    },
  };
  const first = opening(turnId, id, answerId);
  const checkpoint: Checkpoint = {
    state: freshState(answerId),
    grant,
    request: messageDigest(message.parts),
    events: 1 + first.length,
  };
  const appended = await appendMessage(parts.store, {
    ...{ sessionId, visible, message: input, opening: first, at, origin: parts.origin },
    turn: { id: turnId, checkpoint: checkpointJson(checkpoint), owner: worker.ownerOfNext(visibleTo(visible).key) },
  });
  if (appended === undefined) throw await whyNot(parts, sessionId, visible);
  const events = storedEvents(sessionId, appended, appended.began ? [input, ...first] : [input], at);
  if (parts.hub.isHeard(sessionId)) parts.hub.tell(sessionId, { kind: 'stored', events });
  if (!appended.began) worker.hint(sessionId);
  else if (appended.owned) worker.begin({ ...appended, turnId, sessionId, startedAt: at, checkpoint, opening: events });
  else if (parts.store.kind === 'sqlite') await worker.offer(turnId);
  const [stored] = events;
  return stored === undefined ? {} : (messageView(stored) ?? {});
}

function storedEvents(sessionId: string, { sequence, turnId }: Appended, events: readonly DraftEvent[], at: number): StoredEvent[] {
  return events.map(({ type, data }, index) => ({ sessionId, turnId, type, data, at, sequence: sequence - events.length + 1 + index }));
}

async function whyNot({ store }: SessionParts, sessionId: string, visible: Visible): Promise<AbpError> {
  const session = await getSession(store, sessionId);
  if (session === undefined || !isVisible(session.keyId, visible)) return noSession(sessionId);
  return new AbpError('conflict', 'The agent of this session is archived and takes no messages.', { agent_id: session.agentId });
}

export function noSession(id: string): AbpError {
  return new AbpError('not_found', `There is no session ${id}.`, { session_id: id });
}

/** The messages of a session after an event, oldest first. */
export async function listMessages(
  { store }: SessionParts,
  sessionId: string,
  range: { readonly after: number; readonly limit: number },
): Promise<JsonObject[]> {
  const events = await listEvents(store, { sessionId, ...range, types: MESSAGE_EVENTS });
  return events.map(messageView).filter((view) => view !== undefined);
}
