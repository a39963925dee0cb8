import { isJsonObject, type Json, type JsonObject } from '../../../base/json.ts';
import { agentIdOf, withAgentApi } from '../../agents/agent-api.ts';
import { itemsOf } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import type { Paint } from '../../output.ts';
import { optional } from '../../parameter.ts';
import { natural } from '../../receipts/parameters.ts';
import { withServer } from '../../recorded/home-server.ts';
import { table } from '../../table.ts';
import { agoText } from '../../time.ts';

export const command = defineCommand({
  arguments: { agent: optional('[agent]', 'its id or name; without it, the sessions of every agent') },
  options: {
    status: optional('--status <name>', 'idle, active or waiting'),
    tag: optional('--tag <name>', 'only those with this tag'),
    limit: natural('--limit <number>', 'how many, 1000 at most (default 50)', 1000),
    cursor: optional('--cursor <text>', 'where the page before ended'),
  },
  examples: ['abp agents sessions', 'abp agents sessions helper --limit 10', 'abp agents sessions --status waiting --json'],
  async run(context, { agent, ...filters }) {
    const id = agent === undefined ? undefined : await withAgentApi(context, (api) => agentIdOf(api, agent));
    const given = Object.entries({ ...filters, agent_id: id }).filter((pair): pair is [string, string | number] => pair[1] !== undefined);
    const query = new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])));
    const page = await withServer(context, (server) => server.client.call('GET', `/v1/sessions?${query}`));
    context.output.print(page, (data) => render(data, context.output.paint));
    return EXITS.ok.code;
  },
});

function render(page: Json, paint: Paint): string {
  const items = itemsOf(page);
  if (items.length === 0) return 'No sessions; abp chat AGENT begins one.';
  const head = ['Session', 'Agent', 'Title', 'Status', 'Changed'].map(paint.strong);
  const next = isJsonObject(page) ? page.next_cursor : undefined;
  const more = typeof next === 'string' ? ['', paint.faint(`more: --cursor ${next}`)] : [];
  const hint = paint.faint('abp chat AGENT --session SESSION goes on with one.');
  return [table([head, ...items.map(line)]), '', hint, ...more].join('\n');
}

function line({ id, agent_id: agent, title, status, updated_at: changed }: JsonObject): string[] {
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : '–');
  return [text(id), text(agent), text(title).slice(0, 60), text(status), typeof changed === 'string' ? agoText(changed) : '–'];
}
