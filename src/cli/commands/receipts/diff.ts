import { type Change, diffReceipts, type ReceiptDiff } from '../../../receipts/diff.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import type { Paint } from '../../output.ts';
import { flag, required } from '../../parameter.ts';
import { shown } from '../../receipts/page.ts';
import { runOf } from '../../receipts/parameters.ts';
import { withReceipts } from '../../receipts/source.ts';
import { table } from '../../table.ts';

export const command = defineCommand({
  arguments: { runId: required('<run-id>', 'a run'), otherRunId: required('<other-run-id>', 'the run to compare it with') },
  options: { all: flag('--all', 'show also what is of the moment: ids, times, attempts, cost') },
  examples: ['abp receipts diff run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5c'],
  async run(context, { runId, otherRunId, all }) {
    const [old, now] = await withReceipts(context, (source) => Promise.all([source.get(runOf(runId)), source.get(runOf(otherRunId))]));
    const diff = diffReceipts(old, now);
    context.output.print(diff, (data) => render(data, all, context.output.paint));
    return diff.same ? EXITS.ok.code : EXITS.refused.code;
  },
});

function render({ same, content, incidental }: ReceiptDiff, all: boolean, paint: Paint): string {
  const verdict = same ? paint.good('The runs did the same.') : paint.bad('The runs did not do the same.');
  const rest = all
    ? section('Of the moment', incidental, paint)
    : ['', paint.faint(`${incidental.length} more of the moment; --all shows them`)];
  return [verdict, ...section('What they did', content, paint), ...rest].join('\n');
}

function section(title: string, changes: readonly Change[], paint: Paint): string[] {
  if (changes.length === 0) return [];
  const rows = changes.map(({ path, before, after }) => [paint.faint(path), `${brief(before)} → ${brief(after)}`]);
  return ['', paint.strong(title), table(rows)];
}

/** Digests differ as a whole; their beginning tells them apart. */
function brief(value: Change['before']): string {
  return shown(value).replaceAll(/\b([0-9a-f]{12})[0-9a-f]{52}\b/g, '$1…');
}
