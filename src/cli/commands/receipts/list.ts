import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import type { Paint } from '../../output.ts';
import { optional } from '../../parameter.ts';
import { costText, shown, statusText } from '../../receipts/page.ts';
import { filterOf, filters, natural } from '../../receipts/parameters.ts';
import { withReceipts } from '../../receipts/source.ts';
import { table } from '../../table.ts';

export const command = defineCommand({
  arguments: {},
  options: {
    ...filters,
    limit: natural('--limit <number>', 'how many, 1000 at most (default 20)', 1000),
    cursor: optional('--cursor <text>', 'where the page before ended'),
  },
  examples: ['abp receipts list --status failed --since 2027-01-01', 'abp receipts list --engine claude --limit 100 --json'],
  async run(context, { limit = 20, cursor, ...chosen }) {
    const { output } = context;
    const page = await withReceipts(context, (source) => source.list({ ...filterOf(chosen), limit, cursor }));
    const data = { items: page.items, ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }) };
    output.print(data, ({ items }) => render(items, page.nextCursor, output.paint));
    return EXITS.ok.code;
  },
});

function render(items: readonly JsonObject[], next: string | undefined, paint: Paint): string {
  if (items.length === 0) return 'No receipts.';
  const head = ['Run', 'Started', 'Status', 'Engine', 'Model', 'Cost', 'Entry'].map(paint.strong);
  const more = next === undefined ? [] : ['', paint.faint(`more: --cursor ${next}`)];
  return [table([head, ...items.map((item) => line(item, paint))]), ...more].join('\n');
}

function line({ run_id: run, started_at: at, status, engine, model, cost, seal }: JsonObject, paint: Paint): string[] {
  const upstream = isJsonObject(model) ? model.upstream : undefined;
  return [
    shown(run),
    shown(at),
    statusText(status, paint),
    shown(engine),
    shown(upstream),
    costText(cost),
    isJsonObject(seal) ? shown(seal.sequence) : '–',
  ];
}
