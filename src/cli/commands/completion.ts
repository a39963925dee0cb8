import { defineCommand } from '../command.ts';
import { completed, SHELLS } from '../completion.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { required } from '../parameter.ts';

const NAMES = Object.keys(SHELLS).join(', ');

export const command = defineCommand({
  arguments: { shell: required('<shell>', NAMES) },
  options: {},
  examples: [
    'abp completion bash > ~/.local/share/bash-completion/completions/abp',
    'abp completion fish > ~/.config/fish/completions/abp.fish',
  ],
  async run({ output, registry }, { shell }) {
    const script = SHELLS[shell];
    if (script === undefined) throw new CliError('usage', `there is no completion for '${shell}'`, { hint: `There is one for ${NAMES}.` });
    output.print({ shell, script: script(await completed(registry)) }, (made) => made.script.trimEnd());
    return EXITS.ok.code;
  },
});
