import { AbpError } from '../../contract/errors.ts';
import type { Context } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { writeText } from '../io.ts';
import { table } from '../table.ts';
import type { Draft } from './draft.ts';

/** Does the translation; what the file has wrong is a fault of the file. */
export function translated(file: string, work: () => Draft): Draft {
  try {
    return work();
  } catch (error) {
    if (!AbpError.is(error)) throw error;
    throw new CliError('usage', error.message, { hint: `Is ${file} the configuration of that gateway?`, cause: error });
  }
}

/** Writes the configuration to the standard output or a file, and what there is to say of it to the standard error. */
export function writeDraft({ io, output }: Context, draft: Draft, from: string, target: string | undefined): number {
  const { paint } = output;
  const toml = `# Made by abp import of ${from}.\n${draft.variables.map(({ name, from: today }) => `# needs ${name}, which was ${today}\n`).join('')}\n${draft.toml()}`;
  if (target !== undefined) writeText(target, toml);
  if (output.json) {
    output.print({ toml, ...(target === undefined ? {} : { file: target }), variables: draft.variables, remarks: draft.remarks }, () => '');
    return EXITS.ok.code;
  }
  if (target === undefined) io.stdout.write(toml);
  const needed = draft.variables.map(({ name, from: today }) => [`  export ${name}="$${today}"`]);
  const remarks = draft.remarks.map(({ where, what }) => [`  ${where}`, what]);
  const parts = [
    ...(target === undefined ? [] : [`${paint.good(target)} is written; abp config check ${target} shows what it says.`]),
    ...(needed.length === 0 ? [] : [paint.strong('Variables that the server needs:'), table(needed)]),
    ...(remarks.length === 0 ? [] : [paint.strong('Without a counterpart, or different here:'), table(remarks)]),
  ];
  if (parts.length > 0) io.stderr.write(`${parts.join('\n')}\n`);
  return EXITS.ok.code;
}
