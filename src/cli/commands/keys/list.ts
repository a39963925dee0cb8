import { isJsonObject, type Json, type JsonObject, listIn } from '../../../base/json.ts';
import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import type { Paint } from '../../output.ts';
import { flag, optional } from '../../parameter.ts';
import { table } from '../../table.ts';
import { agoText } from '../../time.ts';

export const command = defineCommand({
  arguments: {},
  options: {
    limit: optional('--limit <n>', 'how many at most (default 100)'),
    cursor: optional('--cursor <cursor>', 'go on where an earlier list ended'),
    ended: flag('--ended', 'also keys of runs that have ended'),
  },
  examples: ['abp keys list', 'abp keys list --limit 10 --json'],
  async run({ output, homePath }, { limit, cursor, ended }) {
    const query = new URLSearchParams({
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
      ...(ended && { ended: 'true' }),
    });
    const page = await connect({ homePath }).call('GET', `/v1/keys?${query}`);
    output.print(page, (data) => render(data, output.paint));
    return EXITS.ok.code;
  },
});

function render(page: Json, paint: Paint): string {
  const items = isJsonObject(page) && Array.isArray(page.items) ? page.items.filter(isJsonObject) : [];
  if (items.length === 0) return paint.faint('There are no keys. Make one with abp keys create.');
  const head = ['Key', 'Name', 'Begins', 'Whose', 'Scopes', 'Tags', 'Last used', 'State'].map(paint.strong);
  const rows = items.map((key) => [
    text(key.id),
    text(key.name),
    text(key.prefix),
    whose(key),
    scopes(key),
    listIn(key.tags).join(', ') || '–',
    typeof key.last_used_at === 'string' ? agoText(key.last_used_at) : 'never',
    state(key, paint),
  ]);
  const more = isJsonObject(page) && typeof page.next_cursor === 'string' ? `\n${paint.faint(`more: --cursor ${page.next_cursor}`)}` : '';
  return `${table([head, ...rows])}${more}`;
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** `ann, team blue` */
function whose({ user, service, team }: JsonObject): string {
  const named = [text(user), text(service), typeof team === 'string' ? `team ${team}` : ''].filter((one) => one !== '');
  return named.join(', ') || '–';
}

/** `role auditor; planes gateway; engines sim, claude` */
function scopes({ scopes: given }: JsonObject): string {
  const words = Object.entries(isJsonObject(given) ? given : {}).map(([name, value]) =>
    Array.isArray(value) ? `${name} ${value.join(', ')}` : typeof value === 'string' ? `${name} ${value}` : name,
  );
  return words.length === 0 ? 'gateway' : words.join('; ');
}

function state(key: JsonObject, paint: Paint): string {
  if (typeof key.revoked_at === 'string') return paint.bad('revoked');
  if (typeof key.expires_at !== 'string') return paint.good('live');
  return Date.parse(key.expires_at) <= Date.now() ? paint.bad('expired') : paint.good(`until ${key.expires_at.slice(0, 10)}`);
}
