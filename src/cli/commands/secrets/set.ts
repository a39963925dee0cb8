import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { required } from '../../parameter.ts';
import { openSealed } from '../../people/sealed.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export const command = defineCommand({
  arguments: { name: required('<name>', 'a name of your own, such as claude') },
  options: {},
  examples: ['abp secrets set claude < key.txt'],
  async run(context, { name }) {
    if (!NAME.test(name)) {
      throw new CliError('usage', `'${name}' is not a name for a secret`, { hint: 'Letters, digits and . _ - are allowed.' });
    }
    // By standard input alone: arguments stand in lists of processes and in the history of the shell.
    const value = (await context.io.stdin()).trim();
    if (value === '') throw new CliError('usage', 'there is no secret on standard input', { hint: `abp secrets set ${name} < file` });
    (await openSealed(context)).secrets.set(name, value);
    context.output.print({ name }, () =>
      [
        `${name} is sealed. Name it in the configuration: key = { sealed = "${name}" }`,
        'A running server reads it with its configuration: start it again, or send it SIGHUP.',
      ].join('\n'),
    );
    return EXITS.ok.code;
  },
});
