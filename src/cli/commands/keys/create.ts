import { isJsonObject, type Json } from '../../../base/json.ts';
import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { flag, list, optional, required } from '../../parameter.ts';
import { LIMIT_OPTIONS, limitsOf } from '../../people/limits.ts';

export const command = defineCommand({
  arguments: { name: required('<name>', 'what the key is for, in words') },
  options: {
    plane: list('--plane <name>', 'gateway, run or agent; repeatable (default gateway)'),
    engine: list('--engine <pattern>', 'an engine it may use; repeatable (default every one)'),
    model: list('--model <pattern>', 'a model it may use; repeatable (default every one)'),
    agent: list('--agent <pattern>', 'a coding agent it may run; repeatable (default every one)'),
    tag: list('--tag <tag>', 'a label on the receipts of its runs; repeatable'),
    recording: optional('--recording <policy>', 'full, digest or off (default as the server is configured)'),
    expires: optional('--expires <days>', 'days until it stops working (default never)'),
    user: optional('--user <id>', 'the user whose key it is'),
    team: optional('--team <id>', 'the team whose key it is'),
    ...LIMIT_OPTIONS,
    raw: flag('--raw', 'allow vendor paths that are not part of a dialect'),
    admin: flag('--admin', 'allow everything, keys and settings included'),
  },
  examples: ['abp keys create ci --engine sim --tag ci --expires 30', 'abp keys create laptop --plane gateway --plane agent --json'],
  async run({ output, homePath }, { name, recording, expires, user, team, ...rest }) {
    const days = expires === undefined ? undefined : Number(expires);
    if (days !== undefined && !(days > 0)) {
      throw new CliError('usage', `'${expires}' is not a number of days`, { hint: 'Give a number above 0, such as 30.' });
    }
    const created = await connect({ homePath }).call('POST', '/v1/keys', {
      name,
      scopes: scopesOf(rest),
      tags: [...rest.tag],
      limits: limitsOf(rest),
      ...(recording === undefined ? {} : { recording }),
      ...(user === undefined ? {} : { user }),
      ...(team === undefined ? {} : { team }),
      ...(days === undefined ? {} : { expires_in_s: days * 86_400 }),
    });
    output.print(
      created,
      (key) =>
        `${secretOf(key)}\n${output.paint.faint(`The secret of ${idOf(key)}, shown once. Send it in X-ABP-Key, or where your SDK puts its API key. abp keys revoke ${idOf(key)} ends it.`)}`,
    );
    return EXITS.ok.code;
  },
});

interface Given {
  readonly plane: readonly string[];
  readonly engine: readonly string[];
  readonly model: readonly string[];
  readonly agent: readonly string[];
  readonly raw: boolean;
  readonly admin: boolean;
}

function scopesOf({ plane, engine, model, agent, raw, admin }: Given): Json {
  const lists = { planes: plane, engines: engine, models: model, agents: agent };
  const given = Object.entries(lists).filter(([, names]) => names.length > 0);
  return { ...Object.fromEntries(given), ...(raw && { raw }), ...(admin && { admin }) };
}

function secretOf(created: Json): string {
  return isJsonObject(created) && typeof created.secret === 'string' ? created.secret : '';
}

function idOf(created: Json): string {
  return isJsonObject(created) && typeof created.id === 'string' ? created.id : 'the key';
}
