import { z } from 'zod';
import { dollars } from '../../budgets/amounts.ts';
import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import type { Paint } from '../../output.ts';
import { table } from '../../table.ts';

const amounts = z.looseObject({ nano_usd: z.number(), tokens: z.number(), requests: z.number() });
/** The members that the table shows. */
const Answer = z.looseObject({
  items: z.array(
    z.looseObject({
      id: z.string(),
      on: z.record(z.string(), z.string()),
      period: z.string(),
      limit_nano_usd: z.number().optional(),
      limit_tokens: z.number().optional(),
      limit_requests: z.number().optional(),
      action: z.string(),
      spent: amounts,
      reserved: amounts,
      unpriced_requests: z.number(),
      resets_at: z.string().nullable(),
    }),
  ),
});
type Item = z.infer<typeof Answer>['items'][number];

export const command = defineCommand({
  arguments: {},
  options: {},
  examples: ['abp budgets list', 'abp budgets list --json'],
  async run({ output, homePath }) {
    const answer = await connect({ homePath }).call('GET', '/v1/budgets');
    output.print(answer, (data) => render(Answer.parse(data).items, output.paint));
    return EXITS.ok.code;
  },
});

function render(items: readonly Item[], paint: Paint): string {
  if (items.length === 0) return paint.faint('There are no budgets. Make one with abp budgets create.');
  const head = ['Budget', 'For', 'Period', 'Spent', 'Under way', 'Begins anew', ''].map(paint.strong);
  return table([head, ...items.map((item) => row(item, paint))]);
}

function row(item: Item, paint: Paint): string[] {
  const [[kind, id] = ['', '']] = Object.entries(item.on);
  const { share, spent, reserved } = measured(item);
  const shown = share >= 1 ? paint.bad(spent) : share >= 0.8 ? paint.warn(spent) : spent;
  const notes = [
    ...(item.action === 'warn' ? ['only warns'] : []),
    ...(item.limit_nano_usd !== undefined && item.unpriced_requests > 0 ? [`${item.unpriced_requests} calls without a price`] : []),
  ];
  return [
    item.id,
    `${kind} ${id}`,
    item.period,
    shown,
    reserved,
    item.resets_at?.slice(0, 16).replace('T', ' ') ?? 'never',
    notes.join(', '),
  ];
}

/** The measures that are held, and the largest part of one that is spent. */
function measured({ limit_nano_usd: usd, limit_tokens: tokens, limit_requests: requests, spent, reserved }: Item) {
  const held = [
    { limit: usd, spent: spent.nano_usd, reserved: reserved.nano_usd, text: dollars },
    { limit: tokens, spent: spent.tokens, reserved: reserved.tokens, text: (value: number) => `${value} tokens` },
    { limit: requests, spent: spent.requests, reserved: reserved.requests, text: (value: number) => `${value} calls` },
  ].flatMap(({ limit, ...rest }) => (limit === undefined ? [] : [{ ...rest, limit }]));
  return {
    share: Math.max(0, ...held.map((one) => one.spent / one.limit)),
    spent: held.map((one) => `${one.text(one.spent)} of ${one.text(one.limit)}`).join(', '),
    reserved: held.some((one) => one.reserved > 0) ? `up to ${held.map((one) => one.text(one.reserved)).join(', ')}` : '',
  };
}
