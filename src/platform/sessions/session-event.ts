import { isoTime } from '../../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { StoredEvent } from '../../store/agent-plane/session-events.ts';
import { runOfTurn } from '../ids.ts';
import { contentOf, storedParts } from './content.ts';

/** The id of an event names its place: the session and the number in it. */
export function eventId(sessionId: string, sequence: number): string {
  return `event_${sessionId.slice('session_'.length)}_${sequence}`;
}

/** The number in an id of this session's events; undefined for any other text. */
export function sequenceOf(sessionId: string, id: string): number | undefined {
  const prefix = eventId(sessionId, 0).slice(0, -1);
  const digits = id.startsWith(prefix) ? id.slice(prefix.length) : '';
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}

/** An event as the API shows it. */
export function eventView(event: StoredEvent): JsonObject {
  return {
    id: eventId(event.sessionId, event.sequence),
    type: event.type,
    ts: isoTime(event.at),
    session_id: event.sessionId,
    sequence: event.sequence,
    context: event.turnId === null ? {} : { turn_id: event.turnId, run_id: runOfTurn(event.turnId) },
    data: shown(event.data),
  };
}

/** Messages are stored in neutral words and shown as content. */
function shown(data: JsonObject): JsonObject {
  const { message } = data;
  return isJsonObject(message) && message.parts !== undefined ? { ...data, message: shownMessage(message) } : data;
}

function shownMessage({ parts, ...message }: JsonObject): JsonObject {
  return { ...message, content: contentOf(storedParts(parts)) };
}

/** A message as `GET …/messages` shows it; undefined for an event that holds none. */
export function messageView(event: StoredEvent): JsonObject | undefined {
  const found = messageOf(event);
  if (found === undefined) return undefined;
  const { sessionId, turnId, sequence } = event;
  const runId = turnId === null ? null : runOfTurn(turnId);
  return { ...found, session_id: sessionId, turn_id: turnId, run_id: runId, sequence, created_at: isoTime(event.at) };
}

function messageOf({ type, data, sessionId, sequence }: StoredEvent): JsonObject | undefined {
  if (type === 'tool.completed') {
    const { tool_call_id = null, tool_name = null, result, error } = data;
    const outcome: Record<string, Json> = error === undefined ? { result: result ?? null } : { error };
    const part = { type: 'tool_result', tool_call_id, tool_name, ...outcome };
    return { id: `msg_${eventId(sessionId, sequence).slice('event_'.length)}`, role: 'tool_result', content: [part] };
  }
  if (!isJsonObject(data.message)) return undefined;
  return { ...shownMessage(data.message), ...(data.partial === true && { partial: true }) };
}

/** Events that messages are rebuilt from. */
export const MESSAGE_EVENTS: readonly string[] = ['input.message', 'output.message.completed', 'tool.completed'];
