import { AbpError } from '../../contract/errors.ts';
import { parseRunId, type RunId } from '../../contract/run-id.ts';
import { getSession } from '../../store/agent-plane/sessions.ts';
import { findRunKey } from '../../store/keys.ts';
import type { RunRow } from '../api/run-rows.ts';
import type { Gateway } from '../gateway.ts';
import { startedRuns } from '../run-plane/runs.ts';
import { findRows } from './find-rows.ts';

/** Calls of a run that its line sums up while it goes on. */
const MOST_CALLS = 1000;

function idOf(row: RunRow): RunId {
  const run = parseRunId(row.run_id);
  if (run === undefined) throw new AbpError('internal', `${row.run_id} is not a run id`);
  return run;
}

/** Adds what no receipt says: how many calls a run of a coding agent has made and, while it goes on, what they came to and whether it waits; of a turn whether it waits. */
export async function withLiveFacts(gateway: Gateway, rows: readonly RunRow[]): Promise<RunRow[]> {
  return await Promise.all(rows.map(async (row) => (await MORE[row.plane]?.(gateway, row)) ?? row));
}

const MORE: Readonly<Partial<Record<RunRow['plane'], (gateway: Gateway, row: RunRow) => Promise<RunRow>>>> = {
  run: codingRow,
  agent: turnRow,
};

const SESSION_TAG = 'session:';

/** A turn that asks somebody waits as its session does; it works on nothing meanwhile. */
async function turnRow({ store }: Gateway, row: RunRow): Promise<RunRow> {
  const session = row.tags.find((tag) => tag.startsWith(SESSION_TAG))?.slice(SESSION_TAG.length);
  if (row.completed_at !== null || session === undefined) return row;
  return { ...row, waiting: (await getSession(store, session))?.status === 'waiting' };
}

async function codingRow(gateway: Gateway, row: RunRow): Promise<RunRow> {
  const run = idOf(row);
  const key = await findRunKey(gateway.store, run);
  if (key === undefined) return row;
  if (row.completed_at !== null) return { ...row, children: await countOf(gateway, key.id) };
  const live = (await startedRuns(gateway))?.live(run);
  return { ...row, ...(await sumOfCalls(gateway, run)), waiting: (live?.handle.interaction.pending.length ?? 0) > 0 };
}

/** The sums of a run's calls so far. */
export async function sumOfCalls(gateway: Gateway, run: RunId): Promise<Pick<RunRow, 'children' | 'tokens' | 'cost_nano_usd'>> {
  const key = await findRunKey(gateway.store, run);
  return sumOf(key === undefined ? [] : (await findRows(gateway.store, { key: key.id }, MOST_CALLS)).items);
}

async function countOf({ store }: Gateway, keyId: string): Promise<number> {
  const row = await store.db
    .selectFrom('receipts')
    .select((eb) => eb.fn.countAll<number | string>().as('calls'))
    .where('key_id', '=', keyId)
    .executeTakeFirst();
  return Number(row?.calls ?? 0);
}

function sumOf(calls: readonly RunRow[]): Pick<RunRow, 'children' | 'tokens' | 'cost_nano_usd'> {
  const tokens = { in: 0, out: 0, cache_read: 0, thinking: 0 };
  let cost: number | null = null;
  for (const call of calls) {
    if (call.cost_nano_usd !== null) cost = (cost ?? 0) + call.cost_nano_usd;
    for (const name of ['in', 'out', 'cache_read', 'thinking'] as const) tokens[name] += call.tokens?.[name] ?? 0;
  }
  return { children: calls.length, tokens: calls.length === 0 ? null : tokens, cost_nano_usd: cost };
}
