import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isoTime } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { getAgent } from '../../store/agent-plane/agents.ts';
import { lastEventOf } from '../../store/agent-plane/session-events.ts';
import {
  createSession,
  deleteSession,
  forkSession,
  getSession,
  listSessions,
  type SessionFilter,
  type StoredSession,
  updateSession,
} from '../../store/agent-plane/sessions.ts';
import { ALL, isVisible, type Visible } from '../../store/agent-plane/visible.ts';
import { DELETED, EVENTS_CHANNEL, tell } from '../../store/databases/notices.ts';
import type { Page } from '../../store/page.ts';
import { usd } from '../agents/agent-limits.ts';
import { agentModel } from '../agents/agent-model.ts';
import type { SessionParts } from '../parts.ts';
import { cancelTurn } from '../turns/turns.ts';
import type { Worker } from '../turns/worker.ts';
import { noSession } from './messages.ts';
import { type SessionSettings, sessionSettings, settingsJson } from './session-settings.ts';

export interface SessionRequest extends SessionSettings {
  readonly agentId: string;
  readonly title?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly keyId: string | null;
  readonly visible: Visible;
}

/** A session as the API shows it. */
export function sessionView(session: StoredSession): JsonObject {
  const { model, maxIterations, maxCostNanoUsd } = sessionSettings(session.document);
  return {
    id: session.id,
    agent_id: session.agentId,
    title: session.title,
    tags: [...session.tags],
    status: session.status,
    model,
    max_iterations: maxIterations,
    max_cost_usd: maxCostNanoUsd === null ? null : usd(maxCostNanoUsd),
    turn_id: session.turnId,
    last_sequence: session.sequence,
    usage: { input_tokens: session.inputTokens, output_tokens: session.outputTokens, cost_nano_usd: session.costNanoUsd },
    forked_from_session_id: session.forkedFrom,
    forked_from_sequence: session.forkedSequence,
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.updatedAt),
  };
}

export async function openSession({ store, routes }: SessionParts, request: SessionRequest): Promise<StoredSession> {
  const { agentId, keyId, title, tags, visible } = request;
  const agent = await getAgent(store, agentId);
  if (agent === undefined || !isVisible(agent.keyId, visible)) {
    throw new AbpError('not_found', `There is no agent ${agentId}.`, { agent_id: agentId });
  }
  if (agent.status !== 'active') throw new AbpError('conflict', `The agent ${agent.name} is archived.`, { agent_id: agentId });
  // A name that means nothing is better refused now than by every turn.
  if (request.model !== null) agentModel(request.model, routes);
  return await createSession(store, { agentId, keyId, title, tags, document: settingsJson(request), createdAt: Date.now() });
}

/** The session; throws when there is none that the caller may see. */
export async function visibleSession({ store }: SessionParts, id: string, visible: Visible): Promise<StoredSession> {
  const session = await getSession(store, id);
  if (session === undefined || !isVisible(session.keyId, visible)) throw noSession(id);
  return session;
}

export async function pageOfSessions({ store }: SessionParts, filter: SessionFilter): Promise<Page<StoredSession>> {
  return await listSessions(store, filter);
}

/** Members that are absent stay as they are. */
export interface SessionChanges {
  readonly visible: Visible;
  readonly title?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly settings?: { readonly [K in keyof SessionSettings]?: SessionSettings[K] | undefined } | undefined;
}

/** Changes a session. New settings hold from its next turn on. */
export async function changeSession(parts: SessionParts, id: string, change: SessionChanges): Promise<StoredSession> {
  await visibleSession(parts, id, change.visible);
  const { title, tags, settings = {} } = change;
  const said = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  if (typeof settings.model === 'string') agentModel(settings.model, parts.routes);
  const changed = await updateSession(parts.store, id, {
    ...{ title, tags, updatedAt: Date.now() },
    document: Object.keys(said).length === 0 ? undefined : (before) => settingsJson({ ...sessionSettings(before), ...said }),
  });
  if (changed === undefined) throw noSession(id);
  return changed;
}

/** Ends its turn, then removes everything of the session, its workspace too. */
export async function removeSession(parts: SessionParts, worker: Worker, id: string, visible: Visible): Promise<void> {
  const session = await visibleSession(parts, id, visible);
  if (session.turnId !== null) await endQuietly(parts, worker, session);
  await deleteSession(parts.store, id);
  await tell(parts.store, parts.store.db, EVENTS_CHANNEL, [`${parts.origin} ${id} ${DELETED}`]);
  await forgetSession(parts, id);
}

/** Forgets everything that this process still has of a session that is gone. */
export async function forgetSession({ transcripts, hub, workspaces }: SessionParts, id: string): Promise<void> {
  transcripts.forget(id);
  hub.tell(id, { kind: 'closed', reason: 'deleted' });
  await rm(join(workspaces, id), { recursive: true, force: true });
}

/** Removes every session of an archived agent, which can get no new ones. */
export async function removeSessionsOf(parts: SessionParts, worker: Worker, agentId: string): Promise<void> {
  for (;;) {
    const { items } = await listSessions(parts.store, { agentId, visible: ALL });
    if (items.length === 0) return;
    for (const { id } of items) await removeSession(parts, worker, id, ALL);
  }
}

/** A turn that ends by itself at the same moment is as good. */
async function endQuietly(parts: SessionParts, worker: Worker, session: StoredSession): Promise<void> {
  try {
    await cancelTurn(parts, worker, session, 'The session was deleted.');
  } catch (error) {
    if (!AbpError.is(error) || error.code !== 'conflict') throw error;
  }
}

/** A new session that continues from an earlier point of this one: the last place at or before `upTo` where it was at rest. */
export async function branchSession(
  parts: SessionParts,
  session: StoredSession,
  fork: { readonly upTo?: number | undefined; readonly title?: string | undefined; readonly keyId: string | null },
): Promise<StoredSession> {
  const wanted = Math.min(fork.upTo ?? session.sequence, session.sequence);
  const rest = await lastEventOf(parts.store, session.id, 'session.idled', wanted);
  const made = await forkSession(parts.store, {
    agentId: session.agentId,
    keyId: fork.keyId,
    title: fork.title ?? session.title ?? undefined,
    tags: session.tags,
    document: session.document,
    createdAt: Date.now(),
    from: session.id,
    upTo: rest?.sequence ?? 0,
  });
  await copyWorkspace(parts.workspaces, session.id, made.id);
  return made;
}

async function copyWorkspace(workspaces: string, from: string, to: string): Promise<void> {
  try {
    await cp(join(workspaces, from), join(workspaces, to), { recursive: true, verbatimSymlinks: true });
  } catch (error) {
    // A session that has run no tool has no workspace.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
