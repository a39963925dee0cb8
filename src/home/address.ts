import { readFileSync } from 'node:fs';
import { parseJsonObject } from '../base/json.ts';

/** Where a server answers and which process it is. */
export interface ServerAddress {
  readonly url: string;
  readonly pid: number;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The address in the file; undefined when it is missing or not an address. */
export function readAddress(file: string): ServerAddress | undefined {
  const { url, pid } = parseJsonObject(textOf(file) ?? '') ?? {};
  return typeof url === 'string' && typeof pid === 'number' ? { url, pid } : undefined;
}
