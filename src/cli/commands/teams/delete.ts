import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'the team') },
  options: {},
  examples: ['abp teams delete blue'],
  async run({ output, homePath }, { id }) {
    await connect({ homePath }).call('DELETE', `/v1/teams/${encodeURIComponent(id)}`);
    output.print({ deleted: id }, () => `The team ${id} is deleted; its users and keys stay.`);
    return EXITS.ok.code;
  },
});
