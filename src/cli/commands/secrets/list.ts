import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { openSealed } from '../../people/sealed.ts';

export const command = defineCommand({
  arguments: {},
  options: {},
  examples: ['abp secrets list', 'abp secrets list --json'],
  async run(context) {
    const { secrets, master } = await openSealed(context);
    const { names, masters } = secrets;
    context.output.print({ names, masters, master: master.id }, () =>
      names.length === 0
        ? context.output.paint.faint('Nothing is sealed. abp secrets set NAME < file seals a secret.')
        : [...names, context.output.paint.faint(`opened by the master key ${masters.join(' or ')}`)].join('\n'),
    );
    return EXITS.ok.code;
  },
});
