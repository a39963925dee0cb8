import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Paint } from '../output.ts';
import { table } from '../table.ts';

const NANO = 1e9;

/** A value as one line of a page shows it. */
export function shown(value: Json | undefined): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function member(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

export function statusText(status: Json | undefined, paint: Paint): string {
  const text = shown(status);
  if (text === 'completed') return paint.good(text);
  return text === 'failed' || text === 'cancelled' ? paint.bad(text) : paint.warn(text);
}

/** Dollars, with as many digits as small costs need. */
export function costText(cost: Json | undefined): string {
  const nano = member(cost, 'nano_usd');
  return typeof nano === 'number' ? `$${(nano / NANO).toFixed(6)}` : '–';
}

function digestText(digest: Json | undefined): string {
  if (!isJsonObject(digest)) return '–';
  const { sha256, bytes, status } = digest;
  return `${status === undefined ? '' : `${shown(status)}, `}${shown(bytes)} bytes, sha256 ${shown(sha256)}`;
}

function usageText(usage: Json | undefined): string {
  if (!isJsonObject(usage)) return '–';
  const counts = [
    `${shown(usage.input_tokens)} in`,
    `${shown(usage.output_tokens)} out`,
    ...(['cache_read_tokens', 'cache_write_tokens', 'thinking_tokens', 'web_search_requests'] as const)
      .filter((name) => usage[name] !== 0)
      .map((name) => `${shown(usage[name])} ${name.replaceAll('_', ' ').replace(' tokens', '')}`),
  ];
  return `${counts.join(', ')}${usage.estimated === true ? ' (estimated)' : ''}`;
}

function timingText(timing: Json | undefined): string {
  const part = (name: string): string => shown(member(timing, name));
  return `dispatched ${part('dispatched_ms')} ms, first byte ${part('first_byte_ms')} ms, last byte ${part('last_byte_ms')} ms`;
}

function listed(title: string, list: Json | undefined, line: (item: Json) => string): string[] {
  return Array.isArray(list) && list.length > 0 ? ['', title, ...list.map((item: Json) => `  ${line(item)}`)] : [];
}

function joined(names: readonly string[]): (item: Json) => string {
  return (item) => names.map((name) => shown(member(item, name))).join('  ');
}

/** A receipt as a page for people. */
export function receiptPage(receipt: JsonObject, paint: Paint): string {
  const { error } = receipt;
  const rows = [...headRows(receipt, paint), ...(receipt.task === undefined ? [] : contentRows(receipt)), ...sealRows(receipt)];
  return [
    paint.strong(shown(receipt.run_id)),
    table(rows.filter(([, text]) => text !== '–').map(([name, text]) => [paint.faint(name), text])),
    ...(isJsonObject(error) ? ['', paint.bad(`${shown(error.code)}: ${shown(error.message)}`)] : []),
    ...listed('Emulated', receipt.emulations, joined(['capability', 'strategy'])),
    ...listed('Fidelity', receipt.fidelity, joined(['fate', 'path', 'note'])),
    ...listed('Tool calls', receipt.tool_calls, joined(['name', 'arguments_sha256'])),
    ...listed('Artifacts', receipt.artifacts, joined(['kind', 'path', 'sha256'])),
    ...listed('Rules', receipt.rules, joined(['by', 'rule', 'detail'])),
    ...listed('Approvals', receipt.approvals, joined(['decision', 'tool', 'risk', 'by', 'reason'])),
    ...listed('Entrants', receipt.entrants, joined(['status', 'backend', 'run_id', 'reason'])),
    ...listed('Attempts', receipt.attempts, joined(['engine', 'status', 'ms', 'error'])),
  ].join('\n');
}

type Row = readonly [string, string];

function headRows(receipt: JsonObject, paint: Paint): Row[] {
  const reason = receipt.reason === null || receipt.reason === undefined ? '' : ` (${shown(receipt.reason)})`;
  return [
    ['status', `${statusText(receipt.status, paint)}${reason}`],
    ['removed', shown(receipt.removed_at)],
    ['task', shown(receipt.task)],
    ['started', `${shown(receipt.started_at)}, ended ${shown(receipt.completed_at)}`],
  ];
}

function contentRows(receipt: JsonObject): Row[] {
  const { model, replayable, recording } = receipt;
  return [
    ['dialect', `${shown(receipt.dialect)} on ${shown(receipt.engine)}, ${shown(receipt.mode)}, ${shown(receipt.compatibility)}`],
    ['model', `${shown(member(model, 'requested'))} → ${shown(member(model, 'upstream'))}`],
    ['usage', usageText(receipt.usage)],
    ['cost', costText(receipt.cost)],
    ['events', shown(receipt.event_count)],
    ['timing', timingText(receipt.timing)],
    ['request', digestText(receipt.request)],
    ['sent on', digestText(receipt.upstream_request)],
    ['answer', digestText(receipt.response)],
    ['check', checkText(receipt.check)],
    ['recording', `${shown(recording)}${replayable === true ? ', can be replayed' : ''}`],
    ['key', shown(receipt.key_id)],
    ['parent', shown(receipt.parent_run_id)],
  ];
}

function checkText(check: Json | undefined): string {
  if (!isJsonObject(check)) return '–';
  const how = check.exit_code === null ? shown(check.reason) : `exit ${shown(check.exit_code)}`;
  return `${check.passed === true ? 'passed' : 'failed'}: ${shown(check.command)} (${how}, ${shown(check.ms)} ms)`;
}

function sealRows({ receipt_sha256: hash, seal, node }: JsonObject): Row[] {
  return [
    ['hash', shown(hash)],
    ['seal', isJsonObject(seal) ? `${shown(seal.sequence)} in the chain of ${shown(node)}, ${shown(seal.hash)}` : 'not sealed'],
  ];
}
