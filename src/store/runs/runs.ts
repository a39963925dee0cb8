import type { Selectable } from 'kysely';
import type { JsonObject } from '../../base/json.ts';
import { parseRunId, type RunId } from '../../contract/run-id.ts';
import { runKey } from '../receipts/receipt-columns.ts';
import type { Store } from '../store.ts';
import { damaged, storableText, storedObject } from '../text.ts';
import type { RunsTable } from './run-schema.ts';

/** A run of a coding agent, as the database keeps it. */
export interface StoredRun {
  readonly runId: RunId;
  readonly agent: string;
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled';
  readonly node: string;
  readonly keyId: string | null;
  readonly options: JsonObject;
  readonly pid: number | null;
  readonly pidStarted: string | null;
  readonly result: JsonObject | null;
  readonly createdAt: number;
  readonly completedAt: number | null;
}

export type NewRun = Pick<StoredRun, 'runId' | 'agent' | 'node' | 'keyId' | 'options' | 'createdAt'>;

export async function createRun(store: Store, run: NewRun): Promise<void> {
  await store.db
    .insertInto('runs')
    .values({
      run_id: runKey(run.runId),
      plane: 'run',
      agent: storableText(run.agent),
      status: 'running',
      node: run.node,
      key_id: run.keyId,
      options: storableText(JSON.stringify(run.options)),
      pid: null,
      pid_started: null,
      result: null,
      created_at: run.createdAt,
      updated_at: run.createdAt,
      completed_at: null,
      closed_by: null,
    })
    .execute();
}

/** The process of the agent, told from a later one of its number by when it started. */
export async function setRunProcess(store: Store, runId: RunId, process: { pid: number; started: string | null }): Promise<void> {
  await store.db
    .updateTable('runs')
    .set({ pid: process.pid, pid_started: process.started, updated_at: Date.now() })
    .where('run_id', '=', runKey(runId))
    .execute();
}

export interface RunEnd {
  readonly status: Exclude<StoredRun['status'], 'running'>;
  readonly result: JsonObject;
  readonly at: number;
  /** Replaces the options, where less of them is to be kept. */
  readonly options?: JsonObject;
}

/** A run ends once; a second end changes nothing, except that its own node knows better than one that closed it in its absence. */
export async function endRun(store: Store, runId: RunId, end: RunEnd): Promise<void> {
  await store.db
    .updateTable('runs')
    .set({
      status: end.status,
      result: storableText(JSON.stringify(end.result)),
      pid: null,
      pid_started: null,
      updated_at: end.at,
      completed_at: end.at,
      closed_by: null,
      ...(end.options === undefined ? {} : { options: storableText(JSON.stringify(end.options)) }),
    })
    .where('run_id', '=', runKey(runId))
    .where((eb) => eb.or([eb('completed_at', 'is', null), eb('closed_by', 'is not', null)]))
    .execute();
}

export async function getRun(store: Store, runId: RunId): Promise<StoredRun | undefined> {
  const row = await store.db.selectFrom('runs').selectAll().where('run_id', '=', runKey(runId)).executeTakeFirst();
  return row === undefined ? undefined : runOf(row);
}

/** Closes the runs that an earlier process of this node left open; returns them. */
export async function interruptRuns(store: Store, node: string, at: number): Promise<RunId[]> {
  const open = await store.db.selectFrom('runs').selectAll().where('node', '=', node).where('completed_at', 'is', null).execute();
  const runs = open.map(runOf);
  for (const { runId } of runs) await endRun(store, runId, { status: 'failed', result: { exitReason: 'interrupted' }, at });
  return runs.map(({ runId }) => runId);
}

/** Who closes runs of other nodes, when, and which: those that began until then. */
export interface Closing {
  readonly by: string;
  readonly at: number;
  readonly startedUntil: number;
}

/** Closes the runs of lost nodes. */
export async function closeRunsOf(store: Store, nodes: readonly string[], closing: Closing): Promise<void> {
  await store.db
    .updateTable('runs')
    .set({
      status: 'failed',
      result: JSON.stringify({ exitReason: 'interrupted' }),
      updated_at: closing.at,
      completed_at: closing.at,
      closed_by: closing.by,
    })
    .where('node', 'in', nodes)
    .where('created_at', '<=', closing.startedUntil)
    .where('completed_at', 'is', null)
    .execute();
}

function runOf(row: Selectable<RunsTable>): StoredRun {
  const runId = parseRunId(row.run_id);
  if (runId === undefined) throw damaged('run_id', row.run_id);
  const { status } = row;
  if (status !== 'running' && status !== 'completed' && status !== 'failed' && status !== 'cancelled')
    throw damaged('status of a run', status);
  return {
    runId,
    agent: row.agent,
    status,
    node: row.node,
    keyId: row.key_id,
    options: storedObject('options of a run', row.options),
    pid: row.pid,
    pidStarted: row.pid_started,
    result: row.result === null ? null : storedObject('result of a run', row.result),
    createdAt: row.created_at,
    completedAt: row.completed_at,
  };
}
