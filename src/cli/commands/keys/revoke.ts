import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'the key, as abp keys list names it') },
  options: {},
  examples: ['abp keys revoke key_0192f3a0c1d27b7e8f00112233445566'],
  async run({ output, homePath }, { id }) {
    await connect({ homePath }).call('DELETE', `/v1/keys/${encodeURIComponent(id)}`);
    output.print({ revoked: id }, () => `${id} is revoked.`);
    return EXITS.ok.code;
  },
});
