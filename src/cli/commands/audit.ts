import { z } from 'zod';
import { connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import type { Paint } from '../output.ts';
import { optional } from '../parameter.ts';
import { natural } from '../receipts/parameters.ts';
import { table } from '../table.ts';
import { timeOf } from '../time.ts';

/** The members that the table shows. */
const Answer = z.looseObject({
  items: z.array(
    z.looseObject({
      at: z.string(),
      by: z.looseObject({ kind: z.string(), id: z.string().nullable() }),
      action: z.string(),
      target: z.string().nullable(),
      outcome: z.string(),
      error: z.string().nullable(),
      node: z.string(),
      sequence: z.number(),
    }),
  ),
  next_cursor: z.string().optional(),
});
type Item = z.infer<typeof Answer>['items'][number];

const isoOf = (text: string | undefined): string | undefined => (text === undefined ? undefined : new Date(timeOf(text)).toISOString());

export const command = defineCommand({
  arguments: {},
  options: {
    since: optional('--since <time>', 'from this time on: 24h, 7d, yesterday, a date'),
    until: optional('--until <time>', 'up to this time'),
    action: optional('--action <name>', 'such as key.create, or key.* for all about keys'),
    by: optional('--by <id>', 'the id of a key, or token, local, paired, system'),
    target: optional('--target <id>', 'the id of what was changed or read'),
    limit: natural('--limit <number>', 'how many, 1000 at most (default 50)', 1000),
    cursor: optional('--cursor <text>', 'where the page before ended'),
  },
  examples: ['abp audit', 'abp audit --since 7d --action "key.*"', 'abp audit --action body.read --json'],
  async run({ output, homePath }, { since, until, ...rest }) {
    const chosen = Object.entries({ ...rest, since: isoOf(since), until: isoOf(until) }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    );
    const query = new URLSearchParams(Object.fromEntries(chosen)).toString();
    const answer = await connect({ homePath }).call('GET', `/v1/audit${query === '' ? '' : `?${query}`}`);
    output.print(answer, (data) => {
      const { items, next_cursor: next } = Answer.parse(data);
      if (items.length === 0) return output.paint.faint('Nothing was changed, and nobody read what belongs to others.');
      const head = ['Time', 'Who', 'Did', 'To', 'Outcome', 'Entry'].map(output.paint.strong);
      const more = next === undefined ? [] : ['', output.paint.faint(`more: --cursor ${next}`)];
      return [table([head, ...items.map((item) => row(item, output.paint))]), ...more].join('\n');
    });
    return EXITS.ok.code;
  },
});

function row({ at, by, action, target, outcome, error, sequence }: Item, paint: Paint): string[] {
  const ended = error === null ? outcome : `${outcome}: ${error}`;
  return [
    at.slice(0, 19).replace('T', ' '),
    by.id ?? by.kind,
    action,
    target ?? '',
    outcome === 'done' ? ended : paint.warn(ended),
    paint.faint(String(sequence)),
  ];
}
