import { parse } from 'yaml';
import { parseAt } from '../../../contract/border.ts';
import { defineCommand } from '../../command.ts';
import { CliError } from '../../failure.ts';
import { fromLitellm } from '../../import/litellm.ts';
import { LitellmConfig } from '../../import/litellm-config.ts';
import { translated, writeDraft } from '../../import/write.ts';
import { inputName, readInput } from '../../input.ts';
import { optional, required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { file: required('<file>', 'the config.yaml of LiteLLM; - for the standard input') },
  options: { output: optional('--output <file>', 'write the configuration here instead of to the standard output') },
  examples: ['abp import litellm config.yaml --output abp.toml', 'abp import litellm config.yaml > abp.toml'],
  async run(context, { file, output }) {
    const text = await readInput(file, context.io, 'the file');
    const name = inputName(file);
    const draft = translated(name, () => fromLitellm(parseAt(LitellmConfig, yamlOf(text, name), name), context.io.env));
    return writeDraft(context, draft, name, output);
  },
});

function yamlOf(text: string, file: string): unknown {
  try {
    // LiteLLM reads YAML as of 1.1, with anchors that are merged (`<<`), and yes and no for true and false.
    return parse(text, { version: '1.1' }) ?? {};
  } catch (cause) {
    const message = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    throw new CliError('usage', `${file} is not YAML: ${message}`, { hint: 'Give the configuration that litellm --config reads.', cause });
  }
}
