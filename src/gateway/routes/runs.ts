import { z } from 'zod';
import { isoTime } from '../../base/clock.ts';
import { type Json, type JsonObject, objectIn } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import { backendOf } from '../../contract/runs/coding-agent.ts';
import { AgentMuxError } from '../../contract/runs/run-error.ts';
import { RunOptions, runTags } from '../../contract/runs/run-options.ts';
import { createProfiles } from '../../runtime/profiles.ts';
import { getReceipt, listReceipts } from '../../store/receipts/receipts.ts';
import { requestCancel } from '../../store/runs/run-cancels.ts';
import { getRun, type StoredRun } from '../../store/runs/runs.ts';
import { RunListOrRowsQuery, RunRowList } from '../api/run-rows.ts';
import {
  InteractionParams,
  InteractionReply,
  RunContinue,
  RunInput,
  RunInterrupt,
  RunList,
  RunParams,
  type RunSummary,
  RunView,
  StartedRun,
} from '../api/runs.ts';
import { authorizeRun, maySee, maySteer, seenOnly } from '../auth/access.ts';
import { ownerOf, type Principal } from '../auth/principal.ts';
import { assertRunRights } from '../auth/run-rights.ts';
import type { Gateway } from '../gateway.ts';
import { answererOf } from '../inbox/answered-questions.ts';
import { openQuestions } from '../inbox/open-questions.ts';
import { recordingFor } from '../recording.ts';
import { Reply } from '../reply.ts';
import { defineRoute, type Route } from '../route.ts';
import { leaveOrder, obey, type RunOrder } from '../run-plane/run-orders.ts';
import { runServiceOf } from '../run-plane/runs.ts';
import { NotYetKnown, notYetKnown, runIdOf } from '../run-plane/unknown-run.ts';
import { tracedFrom } from '../telemetry/traced-from.ts';
import { runRows } from './console/run-rows.ts';

function noRun(run: string): AbpError {
  return new AbpError('not_found', `There is no run ${run}.`, { run_id: run });
}

/** The id of a run that the caller may see and whose words are about to be read. */
export async function readableRun(gateway: Gateway, principal: Principal, text: string): Promise<RunId> {
  const run = runIdOf(text);
  const stored = await getRun(gateway.store, run);
  if (stored === undefined || !maySee(principal, stored.keyId)) throw noRun(text);
  await gateway.audit.follows(principal, stored.keyId, { action: 'body.read', target: run, details: { part: 'events' } });
  return run;
}

/** Tells a run what a caller who may steer it wants: at once where it is under way here, else by way of the node that drives it. */
async function steer(gateway: Gateway, principal: Principal, text: string, order: RunOrder): Promise<Reply> {
  const run = runIdOf(text);
  const stored = await getRun(gateway.store, run);
  if (stored === undefined || !maySteer(principal, stored.keyId)) throw noRun(text);
  const live = (await runServiceOf(gateway)).live(run);
  if (live !== undefined) obey(live.handle, order);
  else if (stored.status === 'running' && stored.node !== gateway.home.nodeId) await leaveOrder(gateway.store, run, order);
  else throw new AgentMuxError('RUN_NOT_ACTIVE', `The run ${run} has ended.`, { run_id: run });
  return new Reply(202, { run_id: run });
}

/** Ends a run here, or tells the process that drives it. */
async function cancelRun(gateway: Gateway, principal: Principal, text: string): Promise<RunId> {
  const run = runIdOf(text);
  const stored = await getRun(gateway.store, run);
  const attached = stored === undefined && (gateway.runPlane.attached?.has(run) ?? false);
  if (!attached && (stored === undefined || !maySteer(principal, stored.keyId))) throw noRun(text);
  if (attached && !maySteer(principal, null)) throw noRun(text);
  const live = (await runServiceOf(gateway)).live(run);
  if (live !== undefined) void live.handle.abort();
  else if (attached || stored?.status === 'running') await requestCancel(gateway.store, run, Date.now());
  else throw new AgentMuxError('RUN_NOT_ACTIVE', `The run ${run} has ended.`, { run_id: run });
  return run;
}

/** The line of a run in a list, read from its receipt. */
function summaryOf(document: JsonObject): RunSummary {
  const { run_id, plane, status, reason, task, engine, started_at, completed_at, key_id, tags } = document;
  const parent = document.parent_run_id ?? null;
  return {
    ...{ run_id, plane, status, reason, task, engine, started_at, completed_at, key_id, tags },
    parent_run_id: parent,
    backend: objectIn(document.backend)?.id,
    model: objectIn(document.model)?.requested,
  } as unknown as RunSummary; // each is a member of the receipt with this type
}

/** A run as its row knows it; its receipt may be on its way. */
function summaryOfRow({ runId, agent, status, keyId, options, result, createdAt, completedAt }: StoredRun): RunSummary {
  const text = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);
  return {
    run_id: runId,
    parent_run_id: null,
    plane: 'run',
    status,
    reason: status === 'completed' ? null : text(result?.exitReason),
    task: `run ${agent}`,
    backend: backendOf(agent),
    engine: text(options.engine),
    model: text(options.model),
    started_at: isoTime(createdAt),
    completed_at: completedAt === null ? null : isoTime(completedAt),
    key_id: keyId,
    tags: tagsOf(options),
  };
}

function tagsOf({ tags, projectId }: JsonObject): string[] {
  const project = typeof projectId === 'string' ? { projectId } : {};
  return [...runTags({ tags: Array.isArray(tags) ? tags.map(String) : [], ...project })];
}

async function runView(gateway: Gateway, principal: Principal, text: string): Promise<object> {
  const run = runIdOf(text);
  const [stored, receipt] = await Promise.all([getRun(gateway.store, run), getReceipt(gateway.store, run)]);
  const summary = stored === undefined ? receipt && summaryOf(receipt.document) : summaryOfRow(stored);
  if (summary === undefined || !maySee(principal, summary.key_id)) {
    const answer = await notYetKnown(gateway, run);
    if (answer === undefined) throw noRun(text);
    return answer;
  }
  // Its options hold the prompt.
  if (stored !== undefined) {
    await gateway.audit.follows(principal, stored.keyId, { action: 'body.read', target: run, details: { part: 'options' } });
  }
  const live = stored === undefined ? undefined : (await runServiceOf(gateway)).live(run);
  return {
    ...summary,
    parent_run_id: receipt?.document.parent_run_id ?? null,
    agent: stored?.agent ?? null,
    state: live?.handle.state ?? null,
    options: stored?.options ?? null,
    interactions: live?.handle.interaction.pending ?? [],
    result: stored?.result ?? null,
  };
}

/** The answer as the list of answered questions shows it. */
function said(reply: InteractionReply): { approved: boolean | null; reason?: string | undefined } {
  if ('text' in reply) return { approved: null };
  return { approved: reply.approve, reason: reply.reason };
}

/** A run is told to do something, and what comes of it is in its events. */
function controlRoute(control: Pick<Route, 'path' | 'summary'>, kind: 'pause' | 'resume'): Route {
  return defineRoute({
    method: 'POST',
    ...control,
    params: RunParams,
    handle: ({ gateway, principal, params }) => steer(gateway, principal, params.run_id, { kind }),
  });
}

export const runRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/runs',
    summary: 'Starts a coding agent on the machine of the server. Options are checked before anything is spawned.',
    body: RunOptions,
    response: StartedRun,
    handle: async ({ gateway, principal, runId, body }) => {
      // The key must also allow the options that a profile adds.
      const options = createProfiles({ homePath: gateway.home.installation }).apply(body);
      authorizeRun(principal, { agent: options.agent, engine: options.direct === true ? 'direct' : options.engine });
      assertRunRights(principal, options, gateway.config);
      const service = await runServiceOf(gateway);
      const keepWords = recordingFor(gateway.config, principal) === 'full';
      const run = await service.start(options, { owner: { ...ownerOf(principal), ...tracedFrom(gateway, runId) }, keepWords });
      return new Reply(201, { run_id: run, status: 'running' });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/runs',
    summary: 'Runs of every plane, newest first; a caller sees its own.',
    query: RunListOrRowsQuery,
    response: z.union([RunList, RunRowList]),
    handle: async ({ gateway, principal, query }) => {
      if (query.view === 'row') return await runRows(gateway, principal, query);
      // Of an archived run only a stub is left.
      const page = await listReceipts(gateway.store, { ...seenOnly(principal, query), whole: true });
      return {
        items: page.items.map(({ document }) => summaryOf(document)),
        ...(page.next_cursor === undefined ? {} : { next_cursor: page.next_cursor }),
      };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/runs/{run_id}',
    summary: 'One run: where it stands, what it waits for, what it came to.',
    params: RunParams,
    response: RunView,
    accepted: NotYetKnown,
    handle: ({ gateway, principal, params }) => runView(gateway, principal, params.run_id),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/runs/{run_id}/cancel',
    summary: 'Ends a run, also one that another process drives: SIGTERM to the group of its agent, after the grace period SIGKILL.',
    params: RunParams,
    handle: async ({ gateway, principal, params }) => new Reply(202, { run_id: await cancelRun(gateway, principal, params.run_id) }),
  }),
  controlRoute({ path: '/v1/runs/{run_id}/pause', summary: 'Lets a run stand still: SIGSTOP to the group of its agent.' }, 'pause'),
  controlRoute({ path: '/v1/runs/{run_id}/resume', summary: 'Lets a paused run go on.' }, 'resume'),
  defineRoute({
    method: 'POST',
    path: '/v1/runs/{run_id}/interrupt',
    summary: 'Asks the agent to stop what it does. The run ends with that, unless the agent is held for /continue.',
    params: RunParams,
    body: RunInterrupt,
    handle: ({ gateway, principal, params, body }) => steer(gateway, principal, params.run_id, { kind: 'interrupt', ...body }),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/runs/{run_id}/continue',
    summary: 'Lets an agent go on that was interrupted with hold.',
    params: RunParams,
    body: RunContinue,
    handle: ({ gateway, principal, params, body }) => steer(gateway, principal, params.run_id, { kind: 'continue', ...body }),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/runs/{run_id}/input',
    summary: 'Sends a message to a running agent that takes them: now, into the work under way, or later.',
    params: RunParams,
    body: RunInput,
    handle: ({ gateway, principal, params, body }) => steer(gateway, principal, params.run_id, { kind: 'input', ...body }),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/runs/{run_id}/interactions/{interaction_id}',
    summary: 'Answers an approval or a question of a running agent.',
    audit: { action: 'approval.answer' },
    params: InteractionParams,
    body: InteractionReply,
    handle: async ({ gateway, principal, params, body }) => {
      const question = (await openQuestions(gateway, principal)).find(({ id }) => id === params.interaction_id);
      const order = { kind: 'answer', interaction: params.interaction_id, reply: body, by: answererOf(principal) } as const;
      const reply = await steer(gateway, principal, params.run_id, order);
      if (question !== undefined) gateway.browsers.answered.add(question, principal, said(body));
      return reply;
    },
  }),
];
