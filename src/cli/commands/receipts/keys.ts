import type { SealKey } from '../../../contract/receipts/chain.ts';
import { type Context, defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import type { Paint } from '../../output.ts';
import { flag, optional } from '../../parameter.ts';
import { withReceipts } from '../../receipts/source.ts';
import { table } from '../../table.ts';

export const command = defineCommand({
  arguments: { action: optional('[action]', 'list (the default) or rotate') },
  options: { lost: flag('--lost', 'rotate: the private half of the key is gone, so it cannot sign for the new one') },
  examples: ['abp receipts keys', 'abp receipts keys list --json > keys.json', 'abp receipts keys rotate'],
  async run(context, { action = 'list', lost }) {
    if (action === 'rotate') return await rotate(context, lost);
    if (action !== 'list')
      throw new CliError('usage', `there is no action '${action}'`, { hint: 'abp receipts keys list, or abp receipts keys rotate.' });
    const items = await withReceipts(context, (source) => source.keys());
    context.output.print({ items }, (data) => render(data.items, context.output.paint));
    return EXITS.ok.code;
  },
});

async function rotate(context: Context, lost: boolean): Promise<number> {
  const { oldKey, newKey } = await withReceipts(context, (source) => source.rotate(lost));
  context.output.print(
    { old_key: oldKey, new_key: newKey },
    () => `Receipts are signed with ${newKey} from now on; ${oldKey} is retired, and what it signed still verifies.`,
  );
  return EXITS.ok.code;
}

function render(keys: readonly SealKey[], paint: Paint): string {
  if (keys.length === 0) return 'No keys yet: the first start makes one.';
  const head = ['Key', 'Public key (Ed25519)', 'Since', 'Until', 'Node'].map(paint.strong);
  return table([head, ...keys.map((key) => [key.id, key.public_key, key.created_at, key.retired_at ?? 'in use', key.node])]);
}
