import { isJsonObject } from '../../base/json.ts';
import { connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';

export const command = defineCommand({
  arguments: {},
  options: {},
  examples: ['abp console', 'abp console --json'],
  async run({ output, homePath }) {
    const pairing = await connect({ homePath }).call('POST', '/v1/console/pairings', { scopes: ['all'], ttl_s: 600 });
    const { url, expires_at } = isJsonObject(pairing) ? pairing : {};
    output.print({ url: url ?? null, expires_at: expires_at ?? null }, () =>
      [`${url}`, 'Lets one browser in, once, within ten minutes.'].join('\n'),
    );
    return EXITS.ok.code;
  },
});
