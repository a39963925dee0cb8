import { LIMIT_OPTIONS, limitsOf } from '../../budgets/amounts.ts';
import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { optional, required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'the budget, as abp budgets list names it') },
  options: { ...LIMIT_OPTIONS, action: optional('--action <what>', 'refuse or warn') },
  examples: ['abp budgets set budget_0192f3a0c1d27b7e8f00112233445566 --usd 100'],
  async run({ output, homePath }, { id, action, ...limits }) {
    const change = { ...limitsOf(limits), ...(action === undefined ? {} : { action }) };
    if (Object.keys(change).length === 0) {
      throw new CliError('usage', 'nothing is to be changed', { hint: 'Give --usd, --tokens, --requests or --action.' });
    }
    const changed = await connect({ homePath }).call('PATCH', `/v1/budgets/${encodeURIComponent(id)}`, change);
    output.print(changed, () => `${id} holds as changed from the next call on.`);
    return EXITS.ok.code;
  },
});
