import type { IrPart } from '../../ir/part.ts';
import { nanoUsd } from '../../platform/agents/agent-limits.ts';
import { placeOf } from '../../platform/session-service.ts';
import { listMessages, sendMessage } from '../../platform/sessions/messages.ts';
import {
  branchSession,
  changeSession,
  openSession,
  pageOfSessions,
  removeSession,
  sessionView,
  visibleSession,
} from '../../platform/sessions/sessions.ts';
import { assertMaySteer } from '../../platform/sessions/steering.ts';
import type { TurnGrant } from '../../platform/turns/checkpoint.ts';
import { cancelTurn } from '../../platform/turns/turns.ts';
import type { StoredSession } from '../../store/agent-plane/sessions.ts';
import {
  CancelRequest,
  CancelView,
  type Content,
  EventList,
  EventListQuery,
  ForkRequest,
  type InputPart,
  MessageList,
  MessageListQuery,
  MessageView,
  NewMessage,
  NewSession,
  SessionList,
  SessionListQuery,
  SessionParams,
  SessionPatch,
  SessionView,
} from '../api/sessions.ts';
import { mayStartPrograms, visibleTo } from '../auth/agent-caller.ts';
import { keyIdOf, type Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import { recordingFor } from '../recording.ts';
import { Reply } from '../reply.ts';
import { defineRoute } from '../route.ts';
import { tracedFrom } from '../telemetry/traced-from.ts';

export async function sessionOf({ sessions }: Gateway, principal: Principal, id: string): Promise<StoredSession> {
  return await visibleSession(sessions.parts, id, visibleTo(principal));
}

/** A session whose words are about to be read. */
export async function readableSession(gateway: Gateway, principal: Principal, id: string, part: string): Promise<StoredSession> {
  const session = await sessionOf(gateway, principal, id);
  await gateway.audit.follows(principal, session.keyId, { action: 'body.read', target: session.id, details: { part } });
  return session;
}

function partsOf(content: Content): IrPart[] {
  return typeof content === 'string' ? [{ kind: 'text', text: content }] : content.map(partOf);
}

function partOf(part: InputPart): IrPart {
  if (part.type === 'text') return { kind: 'text', text: part.text };
  if ('url' in part) return { kind: 'image', source: { kind: 'url', url: part.url } };
  return { kind: 'image', source: { kind: 'base64', mediaType: part.media_type, data: part.base64 } };
}

/** The rights of a caller's turns: those of the caller. */
function grantOf({ config }: Gateway, principal: Principal): TurnGrant {
  const recording = recordingFor(config, principal);
  const tags = principal.kind === 'key' ? principal.key.tags : [];
  if (principal.kind !== 'key' || mayStartPrograms(principal)) return { host: mayStartPrograms(principal), recording, tags };
  const { engines, models } = principal.scopes;
  return { host: false, recording, tags, engines, models };
}

/** A caller who may not run programs of this machine neither speaks to an agent that does, nor approves its calls. */
export async function assertMaySpeak({ agents }: Gateway, principal: Principal, sessionId: string): Promise<void> {
  if (!mayStartPrograms(principal)) await assertMaySteer(agents, sessionId, visibleTo(principal));
}

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

/** A caller who accepts JSON and no stream gets a list. */
function wantsList(accept: string | undefined): boolean {
  return accept?.includes('application/json') === true && !accept.includes('text/event-stream');
}

export const sessionRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/sessions',
    summary: 'A new session with an agent.',
    body: NewSession,
    response: SessionView,
    handle: async ({ gateway, principal, body }) => {
      const session = await openSession(gateway.sessions.parts, {
        agentId: body.agent_id,
        title: body.title,
        tags: body.tags,
        model: body.model,
        maxIterations: body.max_iterations,
        maxCostNanoUsd: body.max_cost_usd === null ? null : nanoUsd(body.max_cost_usd),
        keyId: keyIdOf(principal),
        visible: visibleTo(principal),
      });
      return new Reply(201, sessionView(session));
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/sessions',
    summary: 'Sessions, newest first; a caller sees its own.',
    query: SessionListQuery,
    response: SessionList,
    handle: async ({ gateway, principal, query }) => {
      const { agent_id: agentId, ...filter } = query;
      const { items, ...rest } = await pageOfSessions(gateway.sessions.parts, { ...filter, agentId, visible: visibleTo(principal) });
      return { items: items.map(sessionView), ...rest };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/sessions/{id}',
    summary: 'A session.',
    params: SessionParams,
    response: SessionView,
    handle: async ({ gateway, principal, params }) => sessionView(await sessionOf(gateway, principal, params.id)),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/v1/sessions/{id}',
    summary: 'Changes what is named and leaves the rest; model and limits hold from the next turn on.',
    params: SessionParams,
    body: SessionPatch,
    response: SessionView,
    handle: async ({ gateway, principal, params, body }) => {
      const { title, tags, model, max_iterations: maxIterations, max_cost_usd: cost } = body;
      const settings = { model, maxIterations, maxCostNanoUsd: typeof cost === 'number' ? nanoUsd(cost) : cost };
      return sessionView(await changeSession(gateway.sessions.parts, params.id, { title, tags, settings, visible: visibleTo(principal) }));
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/sessions/{id}',
    summary: 'Ends the turn under way and removes the session with its events and its workspace.',
    params: SessionParams,
    handle: async ({ gateway, principal, params }) => {
      const { parts, worker } = gateway.sessions;
      await removeSession(parts, worker, params.id, visibleTo(principal));
      return new Reply(204, undefined);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/sessions/{id}/messages',
    summary: 'Sends a message. It begins a turn, or goes into the next step of the one under way.',
    params: SessionParams,
    body: NewMessage,
    response: MessageView,
    handle: async ({ gateway, principal, runId, params, body }) => {
      const { parts, worker } = gateway.sessions;
      await assertMaySpeak(gateway, principal, params.id);
      const message = await sendMessage(parts, worker, {
        sessionId: params.id,
        visible: visibleTo(principal),
        parts: partsOf(body.message.content),
        metadata: body.message.metadata,
        grant: { ...grantOf(gateway, principal), ...tracedFrom(gateway, runId) },
      });
      return new Reply(201, message, { 'X-ABP-Run-Id': String(message.run_id) });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/sessions/{id}/messages',
    summary: 'The conversation, oldest first.',
    params: SessionParams,
    query: MessageListQuery,
    response: MessageList,
    handle: async ({ gateway, principal, params, query }) => {
      const session = await readableSession(gateway, principal, params.id, 'messages');
      const { limit, cursor } = query;
      const items = await listMessages(gateway.sessions.parts, session.id, { limit, after: cursor === undefined ? 0 : Number(cursor) });
      const last = items.length < limit ? undefined : items.at(-1)?.sequence;
      return { items, ...(last === undefined ? {} : { next_cursor: String(last) }) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/sessions/{id}/events',
    summary: 'Events after since_id, then live ones, as a stream of server-sent events; a list for callers that accept JSON alone.',
    params: SessionParams,
    query: EventListQuery,
    response: EventList,
    handle: async ({ gateway, principal, params, query, headers }) => {
      const session = await readableSession(gateway, principal, params.id, 'events');
      const last = headers['last-event-id'];
      const after = placeOf(session, query.since_id ?? (Array.isArray(last) ? last[0] : last));
      if (wantsList(headers.accept)) return { items: await gateway.sessions.events(session, { after, limit: query.limit }) };
      return new Reply(200, gateway.sessions.feed(session, after), STREAM_HEADERS);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/sessions/{id}/cancel',
    summary: 'Ends the turn under way at once.',
    params: SessionParams,
    body: CancelRequest,
    response: CancelView,
    handle: async ({ gateway, principal, params, body }) => {
      const { parts, worker } = gateway.sessions;
      const session = await sessionOf(gateway, principal, params.id);
      return { session_id: session.id, turn_id: await cancelTurn(parts, worker, session, body.reason), status: 'cancelled' };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/sessions/{id}/fork',
    summary: 'A new session that continues from an earlier point of this one.',
    params: SessionParams,
    body: ForkRequest,
    response: SessionView,
    handle: async ({ gateway, principal, params, body }) => {
      const session = await readableSession(gateway, principal, params.id, 'fork');
      const upTo = body.event_id === undefined ? undefined : placeOf(session, body.event_id);
      const fork = { upTo, title: body.title, keyId: keyIdOf(principal) };
      return new Reply(201, sessionView(await branchSession(gateway.sessions.parts, session, fork)));
    },
  }),
];
