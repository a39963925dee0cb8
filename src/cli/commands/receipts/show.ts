import type { JsonObject } from '../../../base/json.ts';
import { AbpError } from '../../../contract/errors.ts';
import type { RunId } from '../../../contract/run-id.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';
import { runOf } from '../../receipts/parameters.ts';
import { reportPage, type Told } from '../../receipts/report-page.ts';
import { type ReceiptSource, withReceipts } from '../../receipts/source.ts';
import { sequenceOf, verifyRange } from '../../receipts/verification.ts';

export const command = defineCommand({
  arguments: { runId: required('<run-id>', 'the run, as it stands in X-ABP-Run-Id') },
  options: {},
  examples: ['abp receipts show run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b', 'abp receipts show run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b --json'],
  async run(context, { runId }) {
    const run = runOf(runId);
    const { output } = context;
    await withReceipts(context, async (source) => {
      const receipt = await source.get(run);
      if (output.json) output.print(receipt, () => '');
      else output.print(await told(source, run, receipt), (page) => reportPage(page, output.paint));
    });
    return EXITS.ok.code;
  },
});

/** Not everybody who reads receipts may read the chain, or what was said. */
async function told(source: ReceiptSource, run: RunId, receipt: JsonObject): Promise<Told> {
  const place = sequenceOf(receipt);
  const [report, verification] = await Promise.all([
    unlessForbidden(source.report(run), async () => ({ ...NOTHING_SAID, run_id: run })),
    place === undefined
      ? undefined
      : unlessForbidden(verifyRange(source, { from: place, to: place }, { publicKeys: [] }), () => source.verifyRun(run)),
  ]);
  return { receipt, report, verification };
}

const NOTHING_SAID = { prompt: null, session_id: null, key_name: null, tool_calls: [], files: [], calls: [], calls_total: 0 };

async function unlessForbidden<T>(asked: Promise<T>, otherwise: () => Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (AbpError.is(error) && error.code === 'forbidden') return await otherwise();
    throw error;
  }
}
