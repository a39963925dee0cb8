import type { JsonObject } from '../../../base/json.ts';
import type { RunRow } from '../../../gateway/api/run-rows.ts';
import type { RowList } from '../../../gateway/rows/row-page.ts';
import { type Context, defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { nothingText } from '../../nothing.ts';
import { flag, optional } from '../../parameter.ts';
import { filters, natural, rowListOf, rowOptions } from '../../receipts/parameters.ts';
import { rowTable } from '../../receipts/rows.ts';
import { type Listed, withReceipts } from '../../receipts/source.ts';

export const command = defineCommand({
  arguments: {},
  options: {
    ...filters,
    ...rowOptions,
    limit: natural('--limit <number>', 'how many, 1000 at most (default 20)', 1000),
    cursor: optional('--cursor <text>', 'where the page before ended'),
    slim: flag('--slim', 'with --json: a line of each run instead of its whole receipt'),
  },
  examples: [
    'abp receipts list --failed --since 24h',
    'abp receipts list --key ci --min-cost 0.05 --sort cost --count',
    'abp receipts list --parent run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b',
    'abp receipts list --engine claude --limit 100 --json',
  ],
  async run(context, { limit = 20, cursor, slim, ...chosen }) {
    const { output } = context;
    const { sort: _order, minCost, ...words } = chosen;
    const lookedFor = { ...words, 'min-cost': minCost?.toString() };
    const list: RowList = { ...rowListOf(chosen), limit, ...(cursor === undefined ? {} : { cursor }) };
    if (output.json && !slim) output.print(await documents(context, list), () => '');
    else output.print(await rows(context, list), (page) => render(page, context, nothingText('No receipts', lookedFor)));
    return EXITS.ok.code;
  },
});

async function documents(context: Context, list: RowList): Promise<Listed<JsonObject>> {
  return await withReceipts(context, (source) => source.list(list));
}

async function rows(context: Context, list: RowList): Promise<Listed<RunRow>> {
  return await withReceipts(context, (source) => source.rows(list));
}

function render(page: Listed<RunRow>, { io, output: { paint } }: Context, nothing: string): string {
  const { items, next_cursor: next, total, total_is: counted } = page;
  const found = total === undefined ? [] : [paint.faint(`${items.length} of ${counted === 'at_least' ? 'at least ' : ''}${total}`)];
  const more = next === undefined ? [] : [paint.faint(`more: --cursor ${next}`)];
  const below = [...found, ...more];
  if (items.length === 0) return [nothing, ...below].join('\n');
  return [rowTable(items, paint, io.stdout.columns), ...(below.length === 0 ? [] : ['', ...below])].join('\n');
}
