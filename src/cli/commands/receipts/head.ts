import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { shown } from '../../receipts/page.ts';
import { withReceipts } from '../../receipts/source.ts';

export const command = defineCommand({
  arguments: {},
  options: {},
  examples: ['abp receipts head', 'abp receipts head --json > head.json'],
  async run(context) {
    const head = await withReceipts(context, (source) => source.head());
    // The first line is what verify takes as --head.
    context.output.print(head, ({ sequence, hash, at, node, key_id: key }) =>
      [`${shown(sequence)}:${shown(hash)}`, `signed at ${shown(at)} by ${shown(key)} of ${shown(node)}`].join('\n'),
    );
    return EXITS.ok.code;
  },
});
