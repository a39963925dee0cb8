import { isJsonObject, type Json, type JsonObject, listIn } from '../../base/json.ts';
import { Fate } from '../../contract/negotiation.ts';
import type { ChainVerification } from '../../contract/receipts/chain-verification.ts';
import type { RunReport } from '../../gateway/api/reports.ts';
import { compact, counted } from '../numbers.ts';
import type { Paint } from '../output.ts';
import { table } from '../table.ts';
import { agoText, durationText } from '../time.ts';
import { costText, digestText, member, nanoText, shown, statusText, usageText } from './page.ts';
import { costText as rowCost, tokensText } from './rows.ts';
import { verdictLines } from './verification.ts';

/** Everything that the page of a run tells. */
export interface Told {
  readonly receipt: JsonObject;
  readonly report: RunReport;
  /** Undefined while the run is not sealed. */
  readonly verification: ChainVerification | undefined;
}

/** Calls, tools and files that the page names one by one. */
const MOST_LINES = 20;
const LONGEST_ARGUMENTS = 160;

/** A run as a page for people: what was asked, what came of it, what it cost, what was lost on the way, and whether the receipt is genuine. */
export function reportPage({ receipt, report, verification }: Told, paint: Paint): string {
  const rows = [...headRows(receipt, report, paint), ...(receipt.task === undefined ? [] : workRows(receipt))];
  return [
    paint.strong(shown(receipt.run_id)),
    pairs(rows, paint),
    ...errorLines(receipt.error, paint),
    ...callLines(report, paint),
    ...toolLines(report, paint),
    ...fileLines(report, paint),
    ...lossLines(receipt, paint),
    ...listed('Emulated', receipt.emulations, ['capability', 'strategy'], paint),
    ...listed('Artifacts', receipt.artifacts, ['kind', 'path', 'sha256'], paint),
    ...listed('Rules', receipt.rules, ['by', 'rule', 'detail'], paint),
    ...listed('Approvals', receipt.approvals, ['decision', 'tool', 'risk', 'by', 'reason'], paint),
    ...listed('Entrants', receipt.entrants, ['status', 'backend', 'run_id', 'reason'], paint),
    ...attemptLines(receipt, paint),
    ...proofLines(receipt, verification, paint),
  ].join('\n');
}

type Row = readonly [string, string];

function pairs(rows: readonly Row[], paint: Paint): string {
  return table(rows.filter(([, text]) => text !== '–').map(([name, text]) => [paint.faint(name), text]));
}

function headRows(receipt: JsonObject, report: RunReport, paint: Paint): Row[] {
  const reason = receipt.reason === null || receipt.reason === undefined ? '' : ` (${shown(receipt.reason)})`;
  const key = shown(receipt.key_id);
  return [
    ['status', `${statusText(receipt.status, paint)}${reason}`],
    ['removed', shown(receipt.removed_at)],
    ['task', shown(receipt.task)],
    ['prompt', shown(report.prompt)],
    ['session', shown(report.session_id)],
    ['started', startedText(receipt)],
    ['took', tookText(receipt)],
    ['cost', costText(receipt)],
    ['usage', usageText(receipt.usage)],
    ['key', report.key_name === null ? key : `${report.key_name} (${key})`],
    ['parent', shown(receipt.parent_run_id)],
    ['tags', listIn(receipt.tags).map(String).join(', ') || '–'],
  ];
}

function startedText({ started_at: at }: JsonObject): string {
  if (typeof at !== 'string') return '–';
  const ago = agoText(at);
  const exact = `${at.slice(0, 19).replace('T', ' ')} UTC`;
  return at.startsWith(ago) ? exact : `${ago}, ${exact}`;
}

function tookText({ timing, started_at: from, completed_at: to }: JsonObject): string {
  const last = member(timing, 'last_byte_ms');
  const first = member(timing, 'first_byte_ms');
  const whole = typeof last === 'number' ? last : Date.parse(String(to)) - Date.parse(String(from));
  if (Number.isNaN(whole)) return '–';
  return `${durationText(whole)}${typeof first === 'number' && first < whole ? `, first byte after ${durationText(first)}` : ''}`;
}

function workRows(receipt: JsonObject): Row[] {
  const { model, backend, recording } = receipt;
  const version = member(backend, 'version');
  const way = [receipt.mode, receipt.compatibility].filter((word) => typeof word === 'string').join(', ');
  return [
    ['backend', `${shown(member(backend, 'id'))}${typeof version === 'string' ? ` ${version}` : ''}`],
    ['dialect', receipt.dialect === null ? '–' : `${shown(receipt.dialect)} on ${shown(receipt.engine)}${way === '' ? '' : `, ${way}`}`],
    ['model', modelText(member(model, 'requested'), member(model, 'upstream'))],
    ['check', checkText(receipt.check)],
    ['recording', `${shown(recording)}${receipt.replayable === true ? ', can be replayed' : ''}`],
  ];
}

function modelText(asked: Json | undefined, served: Json | undefined): string {
  const names = [asked, served].filter((name, at, all) => typeof name === 'string' && all.indexOf(name) === at);
  return names.map(shown).join(' → ') || '–';
}

function checkText(check: Json | undefined): string {
  if (!isJsonObject(check)) return '–';
  const how = check.exit_code === null ? shown(check.reason) : `exit ${shown(check.exit_code)}`;
  return `${check.passed === true ? 'passed' : 'failed'}: ${shown(check.command)} (${how}, ${shown(check.ms)} ms)`;
}

function errorLines(error: Json | undefined, paint: Paint): string[] {
  return isJsonObject(error) ? ['', paint.bad(`${shown(error.code)}: ${shown(error.message)}`)] : [];
}

/** A line for each call to an engine that was made for the run: model, tokens, cost. */
function callLines({ calls, calls_total: total, run_id: run }: RunReport, paint: Paint): string[] {
  if (calls.length === 0) return [];
  const priced = calls.filter(({ cost_nano_usd: cost }) => cost !== null);
  const sum = priced.reduce((nano, { cost_nano_usd: cost }) => nano + (cost ?? 0), 0);
  const shownCalls = calls.slice(0, MOST_LINES);
  const rows = shownCalls.map((call) => [
    `…${call.run_id.slice(-6)}`,
    statusText(call.status, paint),
    call.upstream_model ?? call.model ?? '–',
    tokensText(call),
    rowCost(call),
    call.total_ms === null ? '–' : durationText(call.total_ms),
    call.error === null ? '' : paint.bad(call.error.code),
  ]);
  const rest = total - shownCalls.length;
  return [
    '',
    paint.strong(`${counted(total, 'call')}${priced.length === 0 ? '' : `, ${nanoText(sum)}`}`),
    indented(table(rows)),
    ...(rest > 0 ? [paint.faint(`  and ${rest} more: abp receipts list --parent ${run}`)] : []),
  ];
}

function toolLines({ tool_calls: calls }: RunReport, paint: Paint): string[] {
  if (calls.length === 0) return [];
  const rows = calls
    .slice(0, MOST_LINES)
    .map(({ name, arguments: args }) => [name, args === null ? paint.faint('not recorded') : brief(args)]);
  const rest = calls.length - rows.length;
  return [
    '',
    paint.strong(counted(calls.length, 'tool call')),
    indented(table(rows)),
    ...(rest > 0 ? [paint.faint(`  and ${rest} more`)] : []),
  ];
}

function brief(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > LONGEST_ARGUMENTS ? `${line.slice(0, LONGEST_ARGUMENTS)}…` : line;
}

const MARKS = { added: 'A', modified: 'M', removed: 'D' } as const;

function fileLines({ files }: RunReport, paint: Paint): string[] {
  if (files.length === 0) return [];
  const sum = (name: 'lines_added' | 'lines_removed'): number => files.reduce((all, file) => all + (file[name] ?? 0), 0);
  const counts = files.some(({ lines_added: lines }) => lines !== null)
    ? `, +${compact(sum('lines_added'))} −${compact(sum('lines_removed'))}`
    : '';
  const rows = files
    .slice(0, MOST_LINES)
    .map(({ path, change, lines_added: added, lines_removed: removed }) => [
      MARKS[change],
      path,
      added === null ? '' : `${paint.good(`+${added}`)} ${paint.bad(`−${removed ?? 0}`)}`,
    ]);
  const rest = files.length - rows.length;
  return [
    '',
    paint.strong(`${counted(files.length, 'file')} changed${counts}`),
    indented(table(rows)),
    ...(rest > 0 ? [paint.faint(`  and ${rest} more`)] : []),
  ];
}

/** A line for everything that was lost or replaced on the way; fields that arrived as they were are only counted. */
function lossLines({ fidelity, answer_fidelity: answer }: JsonObject, paint: Paint): string[] {
  const entries = [...sided(fidelity, 'request'), ...sided(answer, 'answer')];
  if (entries.length === 0) return [];
  const counts = Fate.options.flatMap((fate) => {
    const many = entries.filter((entry) => entry.fate === fate).reduce((all, entry) => all + entry.count, 0);
    return many === 0 ? [] : [`${many} ${fate}`];
  });
  const lost = entries.filter(({ fate }) => fate !== 'exact' && fate !== 'renamed');
  const rows = lost.slice(0, MOST_LINES).map(({ side, fate, path, note }) => [paint.warn(fate), side, path, note]);
  const rest = lost.length - rows.length;
  return [
    '',
    `${paint.strong('Fidelity')}  ${counts.join(', ')}`,
    ...(rows.length === 0 ? [] : [indented(table(rows))]),
    ...(rest > 0 ? [paint.faint(`  and ${rest} more`)] : []),
  ];
}

interface Loss {
  readonly side: string;
  readonly fate: string;
  readonly path: string;
  readonly note: string;
  readonly count: number;
}

function sided(list: Json | undefined, side: string): Loss[] {
  return listIn(list)
    .filter(isJsonObject)
    .map(({ fate, path, note, count }) => ({
      side,
      fate: shown(fate),
      path: shown(path),
      note: note === undefined ? '' : shown(note),
      count: typeof count === 'number' ? count : 1,
    }));
}

/** One try that went well is not worth a line. */
function attemptLines({ attempts }: JsonObject, paint: Paint): string[] {
  const [first, ...more] = listIn(attempts);
  return more.length === 0 && typeof member(first, 'error') !== 'string'
    ? []
    : listed('Attempts', attempts, ['engine', 'status', 'ms', 'error'], paint);
}

function listed(title: string, list: Json | undefined, names: readonly string[], paint: Paint): string[] {
  const rows = listIn(list).map((item) => names.map((name) => shown(member(item, name))));
  return rows.length === 0 ? [] : ['', paint.strong(title), indented(table(rows))];
}

function proofLines(receipt: JsonObject, verification: ChainVerification | undefined, paint: Paint): string[] {
  const { seal, node, receipt_sha256: hash } = receipt;
  const rows: Row[] = [
    ['events', shown(receipt.event_count)],
    ['request', digestText(receipt.request)],
    ['sent on', digestText(receipt.upstream_request)],
    ['answer', digestText(receipt.response)],
    ['hash', shown(hash)],
    ['seal', isJsonObject(seal) ? `${shown(seal.sequence)} in the chain of ${shown(node)}, ${shown(seal.hash)}` : 'not sealed'],
  ];
  const verdict = verification === undefined ? [] : verdictLines(verification, paint);
  return ['', paint.strong('Verification'), ...verdict.map((line) => `  ${line}`), indented(pairs(rows, paint))];
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
