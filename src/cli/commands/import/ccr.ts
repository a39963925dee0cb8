import { parseJson } from '../../../base/json.ts';
import { parseAt } from '../../../contract/border.ts';
import { defineCommand } from '../../command.ts';
import { CliError } from '../../failure.ts';
import { CcrConfig, fromCcr } from '../../import/ccr.ts';
import { translated, writeDraft } from '../../import/write.ts';
import { inputName, readInput } from '../../input.ts';
import { optional, required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { file: required('<file>', 'the config.json of claude-code-router; - for the standard input') },
  options: { output: optional('--output <file>', 'write the configuration here instead of to the standard output') },
  examples: ['abp import ccr ~/.claude-code-router/config.json --output abp.toml'],
  async run(context, { file, output }) {
    const text = await readInput(file, context.io, 'the file');
    const name = inputName(file);
    const draft = translated(name, () => fromCcr(parseAt(CcrConfig, jsonOf(text, name), name), context.io.env));
    return writeDraft(context, draft, name, output);
  },
});

/** claude-code-router reads JSON5, and its examples have comments and commas behind the last member: the same text without both. */
function plainJson(text: string): string {
  const kept: string[] = [];
  for (let at = 0; at < text.length; ) {
    const token = tokenAt(text, at);
    at += token.length;
    if (token.trim() === '' || token.startsWith('//') || token.startsWith('/*')) continue;
    if ((token === '}' || token === ']') && kept.at(-1) === ',') kept.pop();
    kept.push(token);
  }
  return kept.join('');
}

/** A string, a comment, or one character. */
function tokenAt(text: string, at: number): string {
  const ending =
    text[at] === '"'
      ? stringEnd(text, at)
      : text.startsWith('//', at)
        ? text.indexOf('\n', at)
        : text.startsWith('/*', at)
          ? text.indexOf('*/', at) + 2
          : at + 1;
  return text.slice(at, ending <= at ? text.length : ending);
}

function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function jsonOf(text: string, file: string): unknown {
  const parsed = parseJson(text);
  const eased = parsed.ok ? parsed : parseJson(plainJson(text));
  if (eased.ok) return eased.value;
  throw new CliError('usage', `${file} is not JSON: ${eased.message}`, {
    hint: 'Give the file that ccr reads: ~/.claude-code-router/config.json.',
  });
}
