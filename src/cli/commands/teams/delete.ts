import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { flag, required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'the team') },
  options: {
    revokeKeys: flag('--revoke-keys', 'revoke the keys that were given to it'),
    force: flag('--force', 'revoke its keys, unless --keep-keys says otherwise, and give up its limits and budgets'),
    keepKeys: flag('--keep-keys', 'leave keys live, without the limits and budgets of the team'),
  },
  examples: ['abp teams delete blue', 'abp teams delete blue --revoke-keys', 'abp teams delete blue --force'],
  async run({ output, homePath }, { id, revokeKeys, keepKeys, force }) {
    if (revokeKeys && keepKeys)
      throw new CliError('usage', 'keys are revoked or kept, not both', { hint: 'Give --revoke-keys or --keep-keys.' });
    const keys = revokeKeys ? 'revoke' : keepKeys ? 'keep' : undefined;
    const query = new URLSearchParams({ ...(keys === undefined ? {} : { keys }), ...(force ? { force: 'true' } : {}) });
    await connect({ homePath }).call('DELETE', `/v1/teams/${encodeURIComponent(id)}${query.size > 0 ? `?${query}` : ''}`);
    const gone = [
      ...(keys === 'revoke' || (force && keys === undefined) ? ['keys that were given to it are revoked'] : []),
      ...(force ? ['its budgets are deleted'] : []),
    ];
    const left = [...gone, 'its users stay'].join(', ');
    output.print({ deleted: id }, () => `The team ${id} is deleted; ${left}.`);
    return EXITS.ok.code;
  },
});
