import { readFile } from 'node:fs/promises';
import { type Json, parseJson } from '../base/json.ts';
import { pathFault } from '../base/paths/look-at.ts';
import { CliError } from './failure.ts';
import type { Io } from './io.ts';

/** The text of a file that an argument names; `-` is the standard input. `kind` says in the hint what the command wants, such as "a JSON file". */
export async function readInput(path: string, io: Io, kind: string): Promise<string> {
  try {
    return path === '-' ? await io.stdin() : await readFile(path, 'utf8');
  } catch (cause) {
    throw new CliError('usage', `cannot read ${inputName(path)}: it ${pathFault(cause)}`, { hint: hintFor(kind), cause });
  }
}

/** The JSON in a file; `-` is the standard input. */
export async function readJson(path: string, io: Io): Promise<Json> {
  const kind = 'a JSON file';
  const parsed = parseJson(await readInput(path, io, kind));
  if (parsed.ok) return parsed.value;
  throw new CliError('usage', `${inputName(path)} is not JSON: ${parsed.message}`, { hint: hintFor(kind) });
}

/** How messages call an input, which may stand in no file. */
export function inputName(path: string): string {
  return path === '-' ? 'the standard input' : path;
}

function hintFor(kind: string): string {
  return `Give the path of ${kind}, or - for the standard input.`;
}
