import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nearName } from '../../contract/near-name.ts';
import { jsonSchemaOf, SCHEMA_NAMES, type SchemaName } from '../../contract/schemas.ts';
import { defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { makeOutputFolder } from '../io.ts';
import { optional } from '../parameter.ts';

export const command = defineCommand({
  arguments: { name: optional('[name]', 'which schema to print; without it, the names are listed') },
  options: { output: optional('--output <dir>', 'write every schema as a file into this folder') },
  examples: ['abp schema', 'abp schema receipt', 'abp schema --output ./schemas'],
  async run({ output }, { name, output: folder }) {
    if (name !== undefined && folder !== undefined) {
      throw new CliError('usage', '--output writes every schema', { hint: 'Leave the name out, or send one schema to a file with >.' });
    }
    if (folder !== undefined) output.print({ written: await writeAll(folder) }, ({ written }) => written.join('\n'));
    else if (name !== undefined) output.print(jsonSchemaOf(checked(name)), text);
    else output.print({ items: SCHEMA_NAMES }, ({ items }) => items.join('\n'));
    return EXITS.ok.code;
  },
});

function checked(name: string): SchemaName {
  const known = SCHEMA_NAMES.find((one) => one === name);
  if (known !== undefined) return known;
  const near = nearName(name, SCHEMA_NAMES);
  const message = `there is no schema '${name}'${near === undefined ? '' : `, did you mean ${near}?`}`;
  throw new CliError('not_found', message, { hint: 'abp schema lists the names.' });
}

async function writeAll(folder: string): Promise<string[]> {
  makeOutputFolder(folder);
  return Promise.all(
    SCHEMA_NAMES.map(async (name) => {
      const path = join(folder, `${name}.json`);
      await writeFile(path, `${text(jsonSchemaOf(name))}\n`);
      return path;
    }),
  );
}

function text(schema: unknown): string {
  return JSON.stringify(schema, null, 2);
}
