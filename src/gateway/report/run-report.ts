import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject, listIn, objectIn } from '../../base/json.ts';
import type { RunId } from '../../contract/run-id.ts';
import { PATCH_FILE } from '../../runtime/workspaces/change-set.ts';
import { stagesFolder } from '../../runtime/workspaces/stages.ts';
import { keyNames } from '../../store/keys.ts';
import type { StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import type { BodyShelf } from '../../store/recordings/body-shelf.ts';
import type { Store } from '../../store/store.ts';
import type { RunReport } from '../api/reports.ts';
import { countRows, findRows, withKeyNames } from '../rows/find-rows.ts';
import { wordsOfCall } from './call-words.ts';
import { diffsByFile, type LineCount, linesByFile, linesOfDiff } from './patch-lines.ts';
import { wordsOfRun, wordsOfTurn } from './run-words.ts';
import { NO_WORDS, type Words } from './words.ts';

const MOST_CALLS = 200;
const MOST_ARGUMENTS = 2000;
const SESSION_TAG = 'session:';
/** So much of the diff of one file is told. */
const MOST_DIFF = 20_000;
/** Longer patches are not counted line by line. */
const MOST_PATCH = 8 * 1024 * 1024;

/** Where a home keeps what reports are made of. */
export interface ReportSources {
  readonly store: Store;
  readonly shelf: Pick<BodyShelf, 'read'>;
  readonly homePath: string;
}

/** Puts together what is kept of a run beside its receipt. */
export async function runReport(sources: ReportSources, receipt: StoredReceipt): Promise<RunReport> {
  const { store } = sources;
  const { runId, keyId, document } = receipt;
  const words = await wordsOf(sources, receipt);
  const [calls, { total }, names] = await Promise.all([
    findRows(store, { parent: runId }, MOST_CALLS),
    countRows(store, { parent: runId }),
    keyNames(store, keyId === null ? [] : [keyId]),
  ]);
  return {
    run_id: runId,
    prompt: words.prompt,
    session_id: words.session,
    key_name: names.get(keyId ?? '') ?? null,
    tool_calls: toolCalls(document, words),
    files: await filesOf(sources, runId, document, words),
    calls: (await withKeyNames(store, calls.items)).reverse(),
    calls_total: Math.max(total, calls.items.length),
  };
}

/** Of a run whose content was removed nothing is told. */
async function wordsOf({ store, shelf }: ReportSources, { runId, plane, tags, document }: StoredReceipt): Promise<Words> {
  if (document.removed_at !== undefined) return NO_WORDS;
  if (plane === 'run') return await wordsOfRun(store, runId);
  const turn = plane === 'agent' ? await wordsOfTurn(store, runId) : NO_WORDS;
  if (turn.session !== null) return turn;
  // The calls of a turn carry the label of its session.
  const session = tags.find((tag) => tag.startsWith(SESSION_TAG))?.slice(SESSION_TAG.length) ?? null;
  return { ...(await wordsOfCall(store, shelf, runId)), session };
}

/** The calls that the receipt has, each with its arguments: found by its id, else by its turn among the calls of its name. */
function toolCalls(document: JsonObject, { calls }: Words): RunReport['tool_calls'] {
  const byId = new Map(calls.flatMap((call) => (call.id === null ? [] : [[call.id, call.arguments] as const])));
  const byName = Map.groupBy(calls, ({ name }) => name);
  return listIn(document.tool_calls)
    .filter(isJsonObject)
    .map(({ id, name }) => {
      const told = byId.get(String(id)) ?? byName.get(String(name))?.shift()?.arguments ?? null;
      return { id: typeof id === 'string' ? id : null, name: String(name), arguments: told?.slice(0, MOST_ARGUMENTS) ?? null };
    });
}

async function filesOf(sources: ReportSources, run: RunId, document: JsonObject, words: Words): Promise<RunReport['files']> {
  const delta = objectIn(document.workspace_delta);
  if (delta === undefined) return [];
  const lines = await linesOf(sources, run, words);
  const named = (change: 'added' | 'modified' | 'removed'): RunReport['files'] =>
    listIn(delta[change]).map((path: Json) => {
      const found = lines(String(path));
      const counted = { lines_added: found?.added ?? null, lines_removed: found?.removed ?? null };
      return { path: String(path), change, ...counted, diff: found?.diff.slice(0, MOST_DIFF) ?? null };
    });
  return [...named('added'), ...named('modified'), ...named('removed')].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The lines of a file with the text of its diff. */
interface Changed extends LineCount {
  readonly diff: string;
}

/** Lines by path: from the patch of the stage where the run had one, else from what the agent told of its changes. */
async function linesOf({ homePath }: ReportSources, run: RunId, { patches }: Words): Promise<(path: string) => Changed | undefined> {
  const patch = await patchText(join(stagesFolder(homePath), run, PATCH_FILE));
  if (patch !== undefined) {
    const [counted, diffs] = [linesByFile(patch), diffsByFile(patch)];
    return (path) => {
      const lines = counted.get(path);
      return lines === undefined ? undefined : { ...lines, diff: diffs.get(path) ?? '' };
    };
  }
  return (path) => {
    const told = [...patches].find(([name]) => name === path || name.endsWith(`/${path}`));
    return told === undefined ? undefined : { ...linesOfDiff(told[1]), diff: told[1].trimEnd() };
  };
}

async function patchText(file: string): Promise<string | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(file, 'r');
  } catch {
    return undefined; // The run was not staged, or its stage has been cleaned away.
  }
  try {
    return (await handle.stat()).size > MOST_PATCH ? undefined : await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}
