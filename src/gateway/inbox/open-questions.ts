import { isoTime } from '../../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { parseShallow } from '../../base/json-limits.ts';
import { parseRunId, type RunId } from '../../contract/run-id.ts';
import type { PendingInteraction } from '../../contract/runs/run-result.ts';
import { nanoUsd } from '../../platform/agents/agent-limits.ts';
import { openApprovals } from '../../platform/turns/turns.ts';
import { riskAsked } from '../../runtime/runs/dialogue/risk.ts';
import { getAgent } from '../../store/agent-plane/agents.ts';
import { listSessions, type StoredSession } from '../../store/agent-plane/sessions.ts';
import { ALL, isVisible } from '../../store/agent-plane/visible.ts';
import { readLastRunEvents } from '../../store/runs/run-events.ts';
import { getRun } from '../../store/runs/runs.ts';
import type { Interaction } from '../api/interactions.ts';
import { maySteer } from '../auth/access.ts';
import { visibleTo } from '../auth/agent-caller.ts';
import type { Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import { sumOfCalls } from '../rows/live-rows.ts';
import { startedRuns } from '../run-plane/runs.ts';

/** Events that are looked through for what an agent wants and said before. */
const LOOK_BACK = 300;
const MOST_SESSIONS = 200;
const MOST_ELSEWHERE = 50;

const text = (value: Json | undefined): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Everything that waits for somebody, oldest first. */
export async function openQuestions(gateway: Gateway, principal: Principal): Promise<Interaction[]> {
  const [ofRuns, ofSessions] = await Promise.all([runQuestions(gateway, principal), sessionQuestions(gateway, principal)]);
  return [...ofRuns, ...ofSessions].sort((a, b) => a.asked_at.localeCompare(b.asked_at));
}

async function runQuestions(gateway: Gateway, principal: Principal): Promise<Interaction[]> {
  const live = (await startedRuns(gateway))?.underWay() ?? [];
  const waiting = live.filter(({ interaction }) => interaction.pending.length > 0);
  const here = waiting.map(({ runId, interaction }) => questionsOf(gateway, principal, runId, () => interaction.pending));
  const elsewhere = (await runsElsewhere(gateway)).map((runId) => questionsOf(gateway, principal, runId, approvalsIn));
  return (await Promise.all([...here, ...elsewhere])).flat();
}

/** Runs that other nodes of the database drive, the newest of them. */
async function runsElsewhere({ store, home }: Gateway): Promise<RunId[]> {
  if (store.kind === 'sqlite') return [];
  const rows = await store.db
    .selectFrom('runs')
    .select('run_id')
    .where('status', '=', 'running')
    .where('node', '!=', home.nodeId)
    .orderBy('run_id', 'desc')
    .limit(MOST_ELSEWHERE)
    .execute();
  return rows.flatMap(({ run_id }) => parseRunId(run_id) ?? []);
}

/** Approvals that a run waits for, by what it said: its node alone has them in memory. */
function approvalsIn(events: readonly JsonObject[]): Asked[] {
  const decided = new Set(events.flatMap(({ type, interactionId }) => (DECIDED.has(String(type)) ? [interactionId] : [])));
  return events.flatMap(({ type, interactionId, action, detail, timestamp }) => {
    if (type !== 'approval_request' || decided.has(interactionId)) return [];
    const words = { description: text(action) ?? '', detail: text(detail) ?? '' };
    return [{ id: String(interactionId), type: 'approval' as const, ...words, createdAt: Number(timestamp) }];
  });
}

const DECIDED: ReadonlySet<string> = new Set(['approval_granted', 'approval_denied']);

/** A question that waits. */
type Asked = Pick<PendingInteraction, 'id' | 'type' | 'description' | 'detail' | 'createdAt'>;

async function questionsOf(
  gateway: Gateway,
  principal: Principal,
  run: RunId,
  askedIn: (events: readonly JsonObject[]) => readonly Asked[],
): Promise<Interaction[]> {
  const stored = await getRun(gateway.store, run);
  if (stored === undefined || !maySteer(principal, stored.keyId)) return [];
  const events = (await readLastRunEvents(gateway.store, run, LOOK_BACK)).map(({ event }) => event);
  const waiting = askedIn(events);
  if (waiting.length === 0) return [];
  const { agent } = stored;
  const { cost_nano_usd } = await sumOfCalls(gateway, run);
  const { maxBudgetUsd: budget } = stored.options;
  return waiting.map((pending) => {
    const asked = events.find(({ interactionId }) => interactionId === pending.id);
    return {
      ...{ id: pending.id, kind: pending.type, run_id: run, session_id: null, agent },
      title: text(stored.options.prompt) ?? `run ${agent}`,
      tool: text(asked?.toolName) ?? (pending.type === 'approval' ? pending.description : null),
      input: inputOf(events, asked, pending.detail || pending.description),
      cwd: text(stored.options.cwd),
      last_words: lastWords(events),
      asked_at: isoTime(pending.createdAt),
      cost_nano_usd,
      budget_nano_usd: typeof budget === 'number' ? nanoUsd(budget) : null,
      facts: pending.type === 'approval' ? factsOf(asked, text(stored.options.cwd)) : [],
      answer: { method: 'POST' as const, path: `/v1/runs/${run}/interactions/${encodeURIComponent(pending.id)}` },
    };
  });
}

/** The facts that the risk of the call is judged by, as its receipt will name them. */
function factsOf(asked: JsonObject | undefined, cwd: string | null): string[] {
  const { toolName, action, detail, riskLevel } = asked ?? {};
  if (typeof action !== 'string' || typeof detail !== 'string' || cwd === null) return [];
  const level = riskLevel === 'low' || riskLevel === 'medium' ? riskLevel : 'high';
  return [...riskAsked({ toolName: text(toolName) ?? undefined, action, detail, riskLevel: level }, cwd).facts];
}

/** The input of the tool, where the agent said it; else the words of the question. */
function inputOf(events: readonly JsonObject[], asked: JsonObject | undefined, detail: string): Json {
  const call =
    asked?.toolCallId === undefined
      ? undefined
      : events.findLast(({ toolCallId, input }) => toolCallId === asked.toolCallId && input !== undefined);
  if (call?.input !== undefined) return call.input;
  const parsed = parseShallow(detail);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : detail;
}

function lastWords(events: readonly JsonObject[]): string | null {
  const said = events.findLast(({ type, text: words }) => (type === 'message_stop' || type === 'text') && typeof words === 'string');
  return text(said?.text);
}

async function sessionQuestions(gateway: Gateway, principal: Principal): Promise<Interaction[]> {
  const { items } = await listSessions(gateway.store, { visible: ALL, status: 'waiting', limit: MOST_SESSIONS });
  const seen = items.filter(({ keyId }) => isVisible(keyId, visibleTo(principal)));
  return (await Promise.all(seen.map((session) => approvalsOf(gateway, session)))).flat();
}

async function approvalsOf(gateway: Gateway, session: StoredSession): Promise<Interaction[]> {
  const [agent, approvals] = await Promise.all([getAgent(gateway.store, session.agentId), openApprovals(gateway.sessions.parts, session)]);
  return approvals.map((approval) => {
    const call = isJsonObject(approval.tool_call) ? approval.tool_call : {};
    const parsed = parseShallow(text(call.arguments) ?? '{}');
    const id = text(approval.id) ?? '';
    return {
      ...{ id, kind: 'approval' as const, run_id: null, session_id: session.id },
      agent: agent?.name ?? session.agentId,
      title: session.title ?? 'a session without a title',
      tool: text(call.name),
      input: parsed.ok ? parsed.value : (call.arguments ?? null),
      ...{ cwd: null, last_words: null, asked_at: isoTime(session.updatedAt) },
      ...{ cost_nano_usd: session.costNanoUsd, budget_nano_usd: null },
      facts: approval.reason === 'interrupted' ? ['interrupted_before'] : [],
      answer: { method: 'POST' as const, path: `/v1/sessions/${session.id}/approvals/${encodeURIComponent(id)}` },
    };
  });
}
