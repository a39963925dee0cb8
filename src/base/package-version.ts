import { readFileSync } from 'node:fs';
import { parseJsonObject } from './json.ts';

/** The version in package.json, which lies two folders up from the source and from the build alike. */
export function packageVersion(): string {
  const manifest = parseJsonObject(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return String(manifest?.version ?? 'unknown');
}
