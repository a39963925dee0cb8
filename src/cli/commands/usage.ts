import { z } from 'zod';
import { connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { nothingText } from '../nothing.ts';
import { compact, counted } from '../numbers.ts';
import type { Paint } from '../output.ts';
import { optional } from '../parameter.ts';
import { nanoText } from '../receipts/page.ts';
import { table } from '../table.ts';
import { durationText, timeOf } from '../time.ts';

const GROUPS = ['engine', 'model', 'key', 'agent', 'tag', 'status', 'mode', 'error', 'fate'];
const DAY = 86_400_000;
/** Up to this long the line has a mark per hour, beyond it a mark per day. */
const HOURS_UP_TO = 3 * DAY;

const numbers = z.array(z.number());
const shares = z.looseObject({ p50: z.array(z.number().nullable()), p95: z.array(z.number().nullable()) });
/** The members that the table shows. */
const Answer = z.looseObject({
  groups: z.array(
    z.looseObject({
      key: z.record(z.string(), z.string().nullable()),
      runs: numbers,
      failed: numbers,
      cost_nano_usd: numbers,
      unpriced: numbers,
      tokens_in: numbers,
      tokens_out: numbers,
      cache_read: numbers,
      first_byte_ms: shares,
      total_ms: shares,
    }),
  ),
  names: z.record(z.string(), z.string()).optional(),
});
type Answer = z.infer<typeof Answer>;

export const command = defineCommand({
  arguments: {},
  options: {
    since: optional('--since <time>', 'from this time on: 24h, 7d, yesterday, 2027-01-31 (default 24h)'),
    until: optional('--until <time>', 'up to this time (default now)'),
    by: optional('--by <groups>', `${GROUPS.join(', ')}, or several with commas (default engine,model)`),
    engine: optional('--engine <id>', 'of this engine'),
    model: optional('--model <name>', 'of this model'),
    key: optional('--key <key>', 'of calls with this key: its id or its name'),
    tag: optional('--tag <name>', 'with this tag'),
  },
  examples: ['abp usage', 'abp usage --since 2027-01-01 --by key', 'abp usage --since 7d --by tag,model --json'],
  async run({ output, homePath }, { since = '24h', until, by = 'engine,model', ...filters }) {
    const groups = by.split(',').map((group) => group.trim());
    const unknown = groups.find((group) => !GROUPS.includes(group));
    if (unknown !== undefined) throw new CliError('usage', `'${unknown}' is no group`, { hint: `Groups are ${GROUPS.join(', ')}.` });
    const [from, to] = [timeOf(since), until === undefined ? Date.now() : timeOf(until)];
    if (from >= to)
      throw new CliError('usage', `there is no time between ${since} and ${until ?? 'now'}`, { hint: 'The earlier time is --since.' });
    const given = Object.entries(filters).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const query = new URLSearchParams({
      ...Object.fromEntries(given),
      since: new Date(from).toISOString(),
      ...(until === undefined ? {} : { until: new Date(to).toISOString() }),
      group_by: groups.join(','),
      metric: 'cost,tokens,runs,first_byte,total',
      bucket: to - from <= HOURS_UP_TO ? '1h' : '1d',
    });
    const client = connect({ homePath });
    const series = Answer.parse(await client.call('GET', `/v1/usage?${query}`));
    query.set('bucket', 'none');
    const answer = await client.call('GET', `/v1/usage?${query}`);
    output.print(answer, (data) => {
      const told = Answer.parse(data);
      return told.groups.length === 0
        ? output.paint.faint(nothingText('No call ended in this time', filters))
        : render(told, series, groups, output.paint);
    });
    return EXITS.ok.code;
  },
});

function render(answer: Answer, series: Answer, groups: readonly string[], paint: Paint): string {
  const head = [...groups.map(titled), 'Calls', 'Failed', 'In', 'Out', 'Cached', 'Cost', 'First byte', 'p95', ''].map(paint.strong);
  const lines = new Map(series.groups.map(({ key, runs }) => [JSON.stringify(key), sparkline(runs)]));
  const rows = answer.groups.map((group) => [
    ...groups.map((name) => valueText(name, group.key[name] ?? null, answer.names)),
    compact(sum(group.runs)),
    sum(group.failed) === 0 ? paint.faint('0') : paint.bad(compact(sum(group.failed))),
    compact(sum(group.tokens_in)),
    compact(sum(group.tokens_out)),
    compact(sum(group.cache_read)),
    costText(group),
    shareText(group.first_byte_ms.p50),
    shareText(group.total_ms.p95),
    paint.faint(lines.get(JSON.stringify(group.key)) ?? ''),
  ]);
  const several = groups.includes('tag') || groups.includes('fate');
  const below = several ? ['', paint.faint('A call with several tags or fates is counted with each of them.')] : totals(answer, paint);
  return [table([head, ...rows]), ...below].join('\n');
}

function totals({ groups }: Answer, paint: Paint): string[] {
  const all = (name: 'runs' | 'unpriced'): number => groups.reduce((total, group) => total + sum(group[name]), 0);
  const unpriced = all('unpriced');
  const note =
    unpriced === 0 ? '' : ` ${counted(unpriced, 'call has', 'calls have')} no price and ${unpriced === 1 ? 'is' : 'are'} not in the cost.`;
  return ['', paint.faint(`${counted(all('runs'), 'call')}.${note}`)];
}

function titled(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

function valueText(group: string, value: string | null, names: Answer['names']): string {
  if (value === null) return '–';
  return group === 'key' ? (names?.[value] ?? value) : value;
}

function costText({ cost_nano_usd: cost, unpriced, runs }: Answer['groups'][number]): string {
  const nano = sum(cost);
  return nano === 0 && sum(unpriced) === sum(runs) && sum(runs) > 0 ? 'no price' : nanoText(nano);
}

function shareText([value]: readonly (number | null)[]): string {
  return value === null || value === undefined ? '–' : durationText(value);
}

function sum(series: readonly number[]): number {
  return series.reduce((total, value) => total + value, 0);
}

const MARKS = '▁▂▃▄▅▆▇█';
const LONGEST_LINE = 24;

/** A series as a line of marks; a long one has several values in each. */
export function sparkline(series: readonly number[]): string {
  const width = Math.ceil(series.length / LONGEST_LINE);
  const values = Array.from({ length: Math.ceil(series.length / width) }, (_, at) => sum(series.slice(at * width, (at + 1) * width)));
  const most = Math.max(...values, 1);
  return values.map((value) => (value === 0 ? ' ' : (MARKS[Math.max(0, Math.ceil((value / most) * MARKS.length) - 1)] ?? ''))).join('');
}
