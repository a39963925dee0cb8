import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { z } from 'zod';
import { pathFault } from '../base/paths/look-at.ts';
import { parseAt } from '../contract/border.ts';
import { AbpError } from '../contract/errors.ts';

/** Where the master key of sealed secrets comes from; ABP_MASTER_KEY speaks first. */
export const MasterKeyConfig = z.strictObject({
  file: z.string().min(1).optional().describe('A file that holds the master key.'),
  command: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('A program that prints it, with its arguments: the client of a vault or of a key management service.'),
});

/** Which file is read: the one that is named, else `ABP_CONFIG`, else `abp.toml` here. */
interface ConfigPlace {
  readonly path?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The file as it is written; undefined where there is none. */
export function readTree({ path, env }: ConfigPlace): { readonly file: string; readonly tree: unknown } {
  const named = path ?? env.ABP_CONFIG;
  const file = resolve(named ?? 'abp.toml');
  const text = readText(file, named !== undefined);
  return { file, tree: text === undefined ? undefined : tomlOf(text, file) };
}

/** Where the configuration says that the master key comes from. Nothing else of it is looked at. */
export function masterKeySource(options: ConfigPlace): z.infer<typeof MasterKeyConfig> {
  const { file, tree } = readTree(options);
  return parseAt(z.looseObject({ master_key: MasterKeyConfig.prefault({}) }), tree ?? {}, file).master_key;
}

const NO_FILE = 'Name a file that exists with --config or ABP_CONFIG; without one the defaults hold.';

function readText(file: string, required: boolean): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (missing && !required) return undefined;
    throw new AbpError('invalid_request', `cannot read ${file}: it ${pathFault(error)}`, { file }, NO_FILE);
  }
}

function tomlOf(text: string, file: string): unknown {
  try {
    return parseToml(text);
  } catch (error) {
    throw new AbpError('invalid_request', `${file} is not valid TOML: ${error instanceof Error ? error.message : String(error)}`);
  }
}
