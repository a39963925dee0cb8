import { isJsonObject, type Json } from '../../../base/json.ts';
import { LIMIT_OPTIONS, limitsOf } from '../../budgets/amounts.ts';
import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { flag, optional } from '../../parameter.ts';

const SUBJECTS = ['key', 'user', 'team', 'tag', 'agent', 'engine'] as const;

export const command = defineCommand({
  arguments: {},
  options: {
    key: optional('--key <id>', 'for a key and the runs it asks for; local: callers without a key'),
    user: optional('--user <id>', 'for all keys of a user'),
    team: optional('--team <id>', 'for all keys of a team and of its users'),
    tag: optional('--tag <name>', 'for all calls with this tag'),
    agent: optional('--agent <id>', 'for a coding agent, or for an agent by its id'),
    engine: optional('--engine <id>', 'for an engine'),
    period: optional('--period <name>', 'hour, day, week, month or total (default month)'),
    ...LIMIT_OPTIONS,
    warn: flag('--warn', 'only tell when it is used up, and refuse nothing'),
  },
  examples: [
    'abp budgets create --key key_0192f3a0c1d27b7e8f00112233445566 --usd 50',
    'abp budgets create --tag nightly --period day --requests 500',
  ],
  async run({ output, homePath }, { period = 'month', warn, usd, tokens, requests, ...named }) {
    const on = SUBJECTS.flatMap((kind) => (named[kind] === undefined ? [] : [[kind, named[kind]] as const]));
    if (on.length !== 1) {
      const options = SUBJECTS.map((kind) => `--${kind}`).join(', ');
      throw new CliError('usage', on.length === 0 ? 'the budget is for nobody' : 'the budget is for several', {
        hint: `Name one of ${options}.`,
      });
    }
    const limits = limitsOf({ usd, tokens, requests });
    if (Object.keys(limits).length === 0) {
      throw new CliError('usage', 'the budget has no limit', { hint: 'Give --usd, --tokens or --requests.' });
    }
    const terms = { on: Object.fromEntries(on), period, action: warn ? 'warn' : 'refuse', ...limits };
    const created = await connect({ homePath }).call('POST', '/v1/budgets', terms);
    output.print(created, (budget) => `${idOf(budget)} holds from the next call on.`);
    return EXITS.ok.code;
  },
});

function idOf(created: Json): string {
  return isJsonObject(created) && typeof created.id === 'string' ? created.id : 'The budget';
}
