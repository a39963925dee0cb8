import { readFileSync } from 'node:fs';
import { isJsonObject, type Json, type JsonObject, listIn } from '../../base/json.ts';
import { parseRunId } from '../../contract/run-id.ts';
import { Stage, stagesFolder } from '../../runtime/workspaces/stages.ts';
import { dollars, tokens } from '../coding-agents/facts.ts';
import type { Paint } from '../output.ts';
import { short } from '../runs/words.ts';
import { table } from '../table.ts';
import type { Finish } from './race.ts';

/** How one contender did. */
export interface Standing {
  readonly name: string;
  readonly backend: string;
  readonly runId: string | null;
  readonly status: Finish['entrant']['status'];
  readonly reason: string | null;
  readonly hint?: string;
  readonly check: {
    readonly passed: boolean;
    readonly exitCode: number | null;
    readonly reason: string | null;
    readonly log: string;
  } | null;
  readonly changes: { readonly files: number; readonly addedLines: number; readonly removedLines: number } | null;
  readonly costUsd: number | null;
  readonly durationMs: number | null;
  readonly tokens: number | null;
  /** Fields of its requests and options that did not arrive as they were written. */
  readonly losses: { readonly dropped: number; readonly emulated: number } | null;
  readonly toolCalls: number | null;
}

const NANO = 1e9;

export function standingOf({ contender, entrant, receipt, hint }: Finish, homePath: string): Standing {
  const stage = entrant.run_id === null ? undefined : stageOf(homePath, entrant.run_id);
  const usage = objectIn(receipt, 'usage');
  return {
    name: contender.name,
    backend: entrant.backend,
    runId: entrant.run_id,
    status: entrant.status,
    reason: entrant.reason,
    ...(hint !== undefined && { hint }),
    check: checkOf(objectIn(receipt, 'check'), stage),
    changes: changesOf(objectIn(receipt, 'change_set'), stage),
    costUsd: numberIn(objectIn(receipt, 'cost'), 'nano_usd', (nano) => nano / NANO),
    durationMs: numberIn(objectIn(receipt, 'timing'), 'last_byte_ms', Math.round),
    tokens: usage === undefined ? null : Number(usage.input_tokens ?? 0) + Number(usage.output_tokens ?? 0),
    losses: receipt === undefined ? null : lossesOf(receipt),
    toolCalls: receipt === undefined ? null : listIn(receipt.tool_calls ?? []).length,
  };
}

function stageOf(homePath: string, run: string): Stage | undefined {
  const id = parseRunId(run);
  return id === undefined ? undefined : Stage.open(stagesFolder(homePath), id);
}

function objectIn(value: JsonObject | undefined, member: string): JsonObject | undefined {
  const found = value?.[member];
  return isJsonObject(found) ? found : undefined;
}

function numberIn(value: JsonObject | undefined, member: string, made: (found: number) => number): number | null {
  const found = value?.[member];
  return typeof found === 'number' ? made(found) : null;
}

function checkOf(check: JsonObject | undefined, stage: Stage | undefined): Standing['check'] {
  if (check === undefined) return null;
  const { passed, exit_code, reason } = check;
  return {
    passed: passed === true,
    exitCode: typeof exit_code === 'number' ? exit_code : null,
    reason: typeof reason === 'string' ? reason : null,
    log: stage?.checkLogFile ?? '',
  };
}

function changesOf(changeSet: JsonObject | undefined, stage: Stage | undefined): Standing['changes'] {
  if (changeSet === undefined) return null;
  const files = ['added', 'modified', 'removed'].reduce((sum, kind) => sum + Number(changeSet[kind] ?? 0), 0);
  const { added, removed } = patchSize(textOf(stage?.patchFile));
  return { files, addedLines: added, removedLines: removed };
}

function textOf(file: string | undefined): string {
  try {
    return file === undefined ? '' : readFileSync(file, 'utf8');
  } catch {
    // The stage was removed meanwhile; the counts of files are in the receipt.
    return '';
  }
}

/** Lines that a patch adds and removes. */
export function patchSize(patch: string): { readonly added: number; readonly removed: number } {
  let [added, removed, isInHunk] = [0, 0, false];
  for (const line of patch.split('\n')) {
    if (line.startsWith('diff --git ')) isInHunk = false;
    else if (line.startsWith('@@ ')) isInHunk = true;
    else if (isInHunk && line.startsWith('+')) added += 1;
    else if (isInHunk && line.startsWith('-')) removed += 1;
  }
  return { added, removed };
}

function lossesOf({ fidelity, answer_fidelity }: JsonObject): NonNullable<Standing['losses']> {
  const fates = [fidelity, answer_fidelity].flatMap((list: Json | undefined) =>
    listIn(list ?? []).map((entry) => isJsonObject(entry) && entry.fate),
  );
  return { dropped: fates.filter((fate) => fate === 'dropped').length, emulated: fates.filter((fate) => fate === 'emulated').length };
}

/** A standing as programs read it. */
export function standingDocument({ runId, check, changes, costUsd, durationMs, toolCalls, ...same }: Standing): object {
  return {
    ...same,
    run_id: runId,
    check: check === null ? null : { passed: check.passed, exit_code: check.exitCode, reason: check.reason, log: check.log },
    changes: changes === null ? null : { files: changes.files, added_lines: changes.addedLines, removed_lines: changes.removedLines },
    cost_usd: costUsd,
    duration_ms: durationMs,
    tool_calls: toolCalls,
  };
}

const COLUMNS = ['', 'outcome', 'check', 'changes', 'cost', 'time', 'tokens', 'losses', 'run'];

/** The standings as a table, with what stands in the way of those that could not take part. */
export function standings(rows: readonly Standing[], paint: Paint): string {
  const cells = rows.map((row) => [
    paint.strong(row.name),
    row.status === 'completed' ? paint.good(row.status) : paint.bad(row.status),
    checkWords(row.check, paint),
    row.changes === null
      ? '–'
      : `${row.changes.files} ${row.changes.files === 1 ? 'file' : 'files'} +${row.changes.addedLines} −${row.changes.removedLines}`,
    row.costUsd === null ? '–' : dollars(row.costUsd),
    row.durationMs === null ? '–' : `${(row.durationMs / 1000).toFixed(1)} s`,
    row.tokens === null ? '–' : tokens(row.tokens),
    lossWords(row.losses),
    row.runId ?? '–',
  ]);
  const reasons = rows.flatMap(({ name, reason, hint, check }) => [
    ...(reason === null ? [] : [`${name}: ${short(reason, 300)}${hint === undefined ? '' : ` ${paint.faint(hint)}`}`]),
    ...(check === null || check.passed ? [] : [`${name}: what the check said is in ${check.log}`]),
  ]);
  return [table([COLUMNS.map((word) => paint.faint(word)), ...cells]), ...(reasons.length === 0 ? [] : ['', ...reasons])].join('\n');
}

function checkWords(check: Standing['check'], paint: Paint): string {
  if (check === null) return '–';
  if (check.passed) return paint.good('passed');
  return paint.bad(check.exitCode === null ? `failed: ${check.reason ?? ''}` : `failed: exit ${check.exitCode}`);
}

function lossWords(losses: Standing['losses']): string {
  if (losses === null) return '–';
  const words = Object.entries(losses).filter(([, count]) => count > 0);
  return words.length === 0 ? 'none' : words.map(([fate, count]) => `${count} ${fate}`).join(', ');
}
