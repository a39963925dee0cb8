import { readFile } from 'node:fs/promises';
import { type Json, parseJson } from '../base/json.ts';
import { CliError } from './failure.ts';
import type { Io } from './io.ts';

/** The JSON in a file; `-` is the standard input. */
export async function readJson(path: string, io: Io): Promise<Json> {
  const parsed = parseJson(path === '-' ? await io.stdin() : await readText(path));
  if (parsed.ok) return parsed.value;
  throw new CliError('usage', `${inputName(path)} is not JSON: ${parsed.message}`, {
    hint: 'Give the path of a JSON file, or - for the standard input.',
  });
}

/** How messages call an input, which may stand in no file. */
export function inputName(path: string): string {
  return path === '-' ? 'the standard input' : path;
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new CliError('usage', `cannot read ${path}`, { hint: 'Give the path of a JSON file, or - for the standard input.', cause });
  }
}
