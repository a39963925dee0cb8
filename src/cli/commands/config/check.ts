import { isJsonObject, type Json, type JsonObject, parseJsonObject } from '../../../base/json.ts';
import { maskSecrets } from '../../../base/redact.ts';
import { loadConfig } from '../../../gateway/config.ts';
import { defineCommand } from '../../command.ts';
import { withConfig } from '../../config.ts';
import { EXITS } from '../../exit-codes.ts';
import type { Paint } from '../../output.ts';
import { optional } from '../../parameter.ts';
import { table } from '../../table.ts';

/** The configuration in effect, without its secrets. */
interface Effective {
  readonly source: string | null;
  readonly warnings: readonly string[];
  readonly config: Json;
}

export const command = defineCommand({
  arguments: { file: optional('[file]', 'the file to check, instead of --config') },
  options: {},
  examples: ['abp config check', 'abp config check ./abp.toml --json'],
  async run({ io, output, configPath, homePath }, { file = configPath }) {
    const { config, source, warnings } = await withConfig(() =>
      loadConfig({ env: io.env, homePath, ...(file !== undefined && { path: file }) }),
    );
    const effective: Effective = { source, warnings, config: maskSecrets(plain(config)) };
    output.print(effective, (data) => render(data, output.paint));
    return EXITS.ok.code;
  },
});

/** The configuration as it would stand in a JSON file. */
function plain(config: object): JsonObject {
  return parseJsonObject(JSON.stringify(config)) ?? {};
}

function render({ source, warnings, config }: Effective, paint: Paint): string {
  const head = source === null ? 'No configuration file; these defaults and variables are in effect.' : `${source} is valid; in effect:`;
  const body = table(leaves(config, '').map(([path, value]) => [path, paint.faint(JSON.stringify(value))]));
  return [paint.strong(head), ...warnings.map((text) => `${paint.warn('warning:')} ${text}`), '', body].join('\n');
}

/** Every value with its path. An empty table has none. */
function leaves(value: Json, path: string): [string, Json][] {
  if (!isJsonObject(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, member]) => leaves(member, path === '' ? key : `${path}.${key}`));
}
