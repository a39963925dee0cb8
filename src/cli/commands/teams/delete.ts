import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { flag, required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'the team') },
  options: {
    revokeKeys: flag('--revoke-keys', 'revoke the keys that were given to it'),
    keepKeys: flag('--keep-keys', 'leave them live, without the limits and budgets of the team'),
  },
  examples: ['abp teams delete blue', 'abp teams delete blue --revoke-keys'],
  async run({ output, homePath }, { id, revokeKeys, keepKeys }) {
    if (revokeKeys && keepKeys)
      throw new CliError('usage', 'keys are revoked or kept, not both', { hint: 'Give --revoke-keys or --keep-keys.' });
    const keys = revokeKeys ? '?keys=revoke' : keepKeys ? '?keys=keep' : '';
    await connect({ homePath }).call('DELETE', `/v1/teams/${encodeURIComponent(id)}${keys}`);
    const left = revokeKeys ? 'keys that were given to it are revoked, its users stay' : 'its users stay';
    output.print({ deleted: id }, () => `The team ${id} is deleted; ${left}.`);
    return EXITS.ok.code;
  },
});
