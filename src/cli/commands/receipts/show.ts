import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';
import { receiptPage } from '../../receipts/page.ts';
import { runOf } from '../../receipts/parameters.ts';
import { withReceipts } from '../../receipts/source.ts';

export const command = defineCommand({
  arguments: { runId: required('<run-id>', 'the run, as it stands in X-ABP-Run-Id') },
  options: {},
  examples: ['abp receipts show run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b', 'abp receipts show run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b --json'],
  async run(context, { runId }) {
    const receipt = await withReceipts(context, (source) => source.get(runOf(runId)));
    context.output.print(receipt, (data) => receiptPage(data, context.output.paint));
    return EXITS.ok.code;
  },
});
