import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { required } from '../../parameter.ts';
import { openSealed } from '../../people/sealed.ts';

export const command = defineCommand({
  arguments: { name: required('<name>', 'the secret, as abp secrets list names it') },
  options: {},
  examples: ['abp secrets remove claude'],
  async run(context, { name }) {
    const { secrets } = await openSealed(context);
    if (!secrets.remove(name))
      throw new CliError('not_found', `there is no sealed secret ${name}`, { hint: 'abp secrets list names them.' });
    context.output.print({ removed: name }, () => `${name} is gone.`);
    return EXITS.ok.code;
  },
});
