import type { Json } from '../../../base/json.ts';
import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { flag, list, optional, required } from '../../parameter.ts';
import { lifeOf, secretLines } from '../../people/key-secret.ts';
import { LIMIT_OPTIONS, limitsOf } from '../../people/limits.ts';
import { ROLE_HELP } from '../../people/roles.ts';

export const command = defineCommand({
  arguments: { name: required('<name>', 'what the key is for, in words') },
  options: {
    plane: list('--plane <name>', 'gateway, run or agent; repeatable (default gateway)'),
    engine: list('--engine <pattern>', 'an engine it may use; repeatable (default every one)'),
    model: list('--model <pattern>', 'a model it may use; repeatable (default every one)'),
    agent: list('--agent <pattern>', 'a coding agent it may run; repeatable (default every one)'),
    tag: list('--tag <tag>', 'a label on the receipts of its runs; repeatable'),
    recording: optional('--recording <policy>', 'full, digest or off (default as the server is configured)'),
    expires: optional('--expires <days>', 'days until it stops working, or never (default as auth.key_days of the server says)'),
    role: optional('--role <role>', ROLE_HELP),
    user: optional('--user <id>', 'the user whose key it is'),
    team: optional('--team <id>', 'the team whose key it is'),
    service: optional('--service <name>', 'the program whose key it is, where it is no user’s'),
    ...LIMIT_OPTIONS,
    raw: flag('--raw', 'allow vendor paths that are not part of a dialect'),
    admin: flag('--admin', 'allow everything, keys and settings included'),
  },
  examples: [
    'abp keys create ci --engine sim --tag ci --expires 30',
    'abp keys create laptop --plane gateway --plane agent --json',
    'abp keys create audit --role auditor --service nightly-audit',
  ],
  async run({ output, homePath }, { name, recording, expires, user, team, service, ...rest }) {
    const created = await connect({ homePath }).call('POST', '/v1/keys', {
      name,
      scopes: scopesOf(rest),
      tags: [...rest.tag],
      limits: limitsOf(rest),
      ...(recording === undefined ? {} : { recording }),
      ...(user === undefined ? {} : { user }),
      ...(team === undefined ? {} : { team }),
      ...(service === undefined ? {} : { service }),
      ...(expires === undefined ? {} : { expires_in_s: lifeOf(expires) }),
    });
    output.print(created, (key) =>
      secretLines(key, (id) =>
        output.paint.faint(
          `The secret of ${id}, shown once. Send it in X-ABP-Key, or where your SDK puts its API key. abp keys revoke ${id} ends it.`,
        ),
      ),
    );
    return EXITS.ok.code;
  },
});

interface Given {
  readonly role: string | undefined;
  readonly plane: readonly string[];
  readonly engine: readonly string[];
  readonly model: readonly string[];
  readonly agent: readonly string[];
  readonly raw: boolean;
  readonly admin: boolean;
}

function scopesOf({ role, plane, engine, model, agent, raw, admin }: Given): Json {
  const lists = { planes: plane, engines: engine, models: model, agents: agent };
  const given = Object.entries(lists).filter(([, names]) => names.length > 0);
  return { ...Object.fromEntries(given), ...(role !== undefined && { role }), ...(raw && { raw }), ...(admin && { admin }) };
}
