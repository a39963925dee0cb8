import { isJsonObject, type Json } from '../../../base/json.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { nothingText } from '../../nothing.ts';
import type { Paint } from '../../output.ts';
import { count, optional } from '../../parameter.ts';
import { withServer } from '../../recorded/home-server.ts';
import { itemsOf, queryOf, SELECTION } from '../../recorded/select.ts';
import { table } from '../../table.ts';
import { agoText } from '../../time.ts';

const { key, tag, engine } = SELECTION;

export const command = defineCommand({
  arguments: {},
  options: {
    key,
    tag,
    engine,
    limit: count('--limit <n>', 'how many at most (default 50)'),
    cursor: optional('--cursor <cursor>', 'go on where an earlier list ended'),
  },
  examples: ['abp recordings list', 'abp recordings list --engine claude --limit 10 --json'],
  async run(context, { limit, cursor, ...selection }) {
    const more = { ...(limit !== undefined && { limit: String(limit) }), ...(cursor !== undefined && { cursor }) };
    const page = await withServer(context, (server) => server.client.call('GET', `/v1/recordings?${queryOf(selection, more)}`));
    context.output.print(page, (data) => render(data, context.output.paint, nothingText('Nothing is recorded', selection)));
    return EXITS.ok.code;
  },
});

function render(page: Json, paint: Paint, nothing: string): string {
  const items = itemsOf(page);
  if (items.length === 0) return paint.faint(nothing);
  const head = ['Run', 'Started', 'Engine', 'Path', 'Status', 'Replay'].map(paint.strong);
  const rows = items.map((item) => [
    String(item.run_id),
    agoText(String(item.started_at)),
    String(item.engine ?? ''),
    String(item.path),
    String(item.status ?? ''),
    item.replayable === true ? paint.good('yes') : paint.faint(item.redacted === true ? 'no: a secret was removed' : 'no'),
  ]);
  const more = isJsonObject(page) && typeof page.next_cursor === 'string' ? `\n${paint.faint(`more: --cursor ${page.next_cursor}`)}` : '';
  return `${table([head, ...rows])}${more}`;
}
