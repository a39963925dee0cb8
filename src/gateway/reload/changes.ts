import { isJsonObject, type Json, jsonOf } from '../../base/json.ts';
import { maskSecrets } from '../../base/redact.ts';
import type { Config } from '../config.ts';

/** One value of the configuration in which the file and the running server differ. Secrets are masked. */
export interface ConfigChange {
  /** `engines.claude.url`. */
  readonly path: string;
  readonly running: Json;
  readonly file: Json;
}

/** Every value in which two configurations differ, by path. Lists count as one value. */
export function changesBetween(running: Config, file: Config): ConfigChange[] {
  const [before, after] = [leavesOf(jsonOf(running)), leavesOf(jsonOf(file))];
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((path): ConfigChange[] => {
    const [one = null, other = null] = [before.get(path), after.get(path)];
    if (JSON.stringify(one) === JSON.stringify(other)) return [];
    const name = path.slice(path.lastIndexOf('.') + 1);
    return [{ path, running: maskSecrets(one, name), file: maskSecrets(other, name) }];
  });
}

function leavesOf(value: Json, path = ''): Map<string, Json> {
  // Headers may hold secrets under any name, so they are one value that is masked as a whole.
  if (!isJsonObject(value) || path.endsWith('.headers')) return new Map([[path, value]]);
  return new Map(Object.entries(value).flatMap(([name, member]) => [...leavesOf(member, path === '' ? name : `${path}.${name}`)]));
}
