import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'the sign-in, as abp sign-ins list names it') },
  options: {},
  examples: ['abp sign-ins end sign_in_0192f3a0c1d27b7e8f00112233445566'],
  async run({ output, homePath }, { id }) {
    await connect({ homePath }).call('DELETE', `/v1/sign-ins/${encodeURIComponent(id)}`);
    output.print({ ended: id }, () => `${id} has ended.`);
    return EXITS.ok.code;
  },
});
