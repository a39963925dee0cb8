import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { optional, required } from '../../parameter.ts';
import { lifeOf, secretLines, spanOf } from '../../people/key-secret.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'the key, as abp keys list names it') },
  options: {
    overlap: optional('--overlap <span>', 'how long the secret before works as well, such as 24h; 0: not at all (default 24h)'),
    expires: optional('--expires <days>', 'days until the key stops working, or never (default as long as it had before)'),
  },
  examples: ['abp keys rotate key_0192f3a0c1d27b7e8f00112233445566', 'abp keys rotate key_0192f3a0c1d27b7e8f00112233445566 --overlap 2h'],
  async run({ output, homePath }, { id, overlap = '24h', expires }) {
    const rotated = await connect({ homePath }).call('POST', `/v1/keys/${encodeURIComponent(id)}/rotate`, {
      overlap_s: spanOf(overlap),
      ...(expires === undefined ? {} : { expires_in_s: lifeOf(expires) }),
    });
    const until = spanOf(overlap) === 0 ? 'The one before works no more.' : `The one before works for ${overlap} more.`;
    output.print(rotated, (key) => secretLines(key, (name) => output.paint.faint(`The new secret of ${name}, shown once. ${until}`)));
    return EXITS.ok.code;
  },
});
