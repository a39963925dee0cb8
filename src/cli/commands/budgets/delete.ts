import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'the budget, as abp budgets list names it') },
  options: {},
  examples: ['abp budgets delete budget_0192f3a0c1d27b7e8f00112233445566'],
  async run({ output, homePath }, { id }) {
    await connect({ homePath }).call('DELETE', `/v1/budgets/${encodeURIComponent(id)}`);
    output.print({ deleted: id }, () => `${id} is deleted.`);
    return EXITS.ok.code;
  },
});
