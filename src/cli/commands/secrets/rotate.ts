import { readMasterKey } from '../../../gateway/secret-references.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { flag, list, optional } from '../../parameter.ts';
import { openSealed } from '../../people/sealed.ts';

export const command = defineCommand({
  arguments: {},
  options: {
    newFile: optional('--new-file <file>', 'the file that holds the new master key (else ABP_NEW_MASTER_KEY)'),
    newCommand: list('--new-command <word>', 'the program that prints the new master key; repeat it for each of its words'),
    finish: flag('--finish', 'drop every master key but the present one, and seal everything anew'),
  },
  examples: ['abp secrets rotate --new-file /run/secrets/master-2', 'abp secrets rotate --finish'],
  async run(context, { newFile, newCommand, finish }) {
    const { secrets, master } = await openSealed(context);
    if (finish) {
      secrets.keepOnly(master);
      context.output.print(
        { masters: secrets.masters },
        () => `Only the master key ${master.id} opens the secrets now; all of them are sealed anew.`,
      );
      return EXITS.ok.code;
    }
    const { ABP_NEW_MASTER_KEY: given } = context.io.env;
    const source = { file: newFile, command: newCommand.length === 0 ? undefined : newCommand };
    const next = readMasterKey(source, given === undefined ? {} : { ABP_MASTER_KEY: given });
    if (next === undefined) {
      throw new CliError('usage', 'there is no new master key', { hint: 'Set ABP_NEW_MASTER_KEY, or give --new-file or --new-command.' });
    }
    secrets.admit(next);
    context.output.print({ masters: secrets.masters }, () =>
      [
        `The master keys ${secrets.masters.join(' and ')} both open the secrets.`,
        'Give every server the new one, one after the other; then: abp secrets rotate --finish',
      ].join('\n'),
    );
    return EXITS.ok.code;
  },
});
