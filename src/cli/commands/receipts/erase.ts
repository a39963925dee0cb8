import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { optional } from '../../parameter.ts';
import { before } from '../../receipts/parameters.ts';
import { withReceipts } from '../../receipts/source.ts';

export const command = defineCommand({
  arguments: {},
  options: {
    key: optional('--key <id>', 'of calls with this key'),
    tag: optional('--tag <name>', 'with this tag'),
    before,
    reason: optional('--reason <text>', 'why; it stands in the chain (default: asked for)'),
  },
  examples: ['abp receipts erase --key key_0190a1b2 --reason "the customer left"', 'abp receipts erase --tag trial --before 2027-01-01'],
  async run(context, { key, tag, before: endedBefore, reason = 'asked for' }) {
    if (key === undefined && tag === undefined) {
      throw new CliError('usage', 'say which receipts to erase', { hint: 'Give --key or --tag; --before narrows them down.' });
    }
    const count = await withReceipts(context, (source) => source.remove({ status: 'deleted', reason, key, tag, endedBefore }));
    context.output.print({ erased: count }, () => `${count} receipts erased; their places and hashes stay, and the chain still verifies.`);
    return EXITS.ok.code;
  },
});
