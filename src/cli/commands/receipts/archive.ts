import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { before } from '../../receipts/parameters.ts';
import { withReceipts } from '../../receipts/source.ts';

export const command = defineCommand({
  arguments: {},
  options: { before },
  examples: ['abp receipts archive --before 2027-01-01', 'abp receipts archive --before 2027-01-01 --json'],
  async run(context, { before: endedBefore }) {
    if (endedBefore === undefined)
      throw new CliError('usage', 'say which receipts to archive', { hint: 'Give --before with a date or a time.' });
    const count = await withReceipts(context, (source) =>
      source.remove({ status: 'archived', reason: 'archived by command', endedBefore }),
    );
    context.output.print(
      { archived: count },
      () => `${count} receipts archived; their places and hashes stay, and the chain still verifies.`,
    );
    return EXITS.ok.code;
  },
});
