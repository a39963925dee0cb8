import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'the user') },
  options: {},
  examples: ['abp users delete ann'],
  async run({ output, homePath }, { id }) {
    await connect({ homePath }).call('DELETE', `/v1/users/${encodeURIComponent(id)}`);
    output.print({ deleted: id }, () => `The user ${id} is deleted, and the user’s keys are revoked.`);
    return EXITS.ok.code;
  },
});
