import { readFile } from 'node:fs/promises';
import { isJsonObject, parseJson } from '../base/json.ts';
import { parseAt } from '../contract/border.ts';
import { CapabilityRequirements } from '../contract/support.ts';
import { ForeignWorkOrder } from '../contract/work-order.ts';
import type { Requirements } from '../negotiation/negotiate.ts';
import { CliError } from './failure.ts';
import type { Io } from './io.ts';

/** `name` or `name=level` as requirements; without a level, emulation is good enough. */
export function parseRequire(items: readonly string[]): Requirements {
  const required = items.map((item) => {
    const [capability, level = 'emulated'] = item.split(/\s*=\s*/, 2);
    return { capability, min_support: level };
  });
  return parseAt(CapabilityRequirements, { required }, '--require');
}

/** The requirements in a file: a work order, a body of `POST /v1/negotiate`, or the bare requirements. `-` is the standard input. */
export async function readRequirements(path: string, io: Io): Promise<Requirements> {
  const name = path === '-' ? 'the standard input' : path;
  const parsed = parseJson(path === '-' ? await io.stdin() : await readInput(path));
  if (!parsed.ok) {
    throw new CliError('usage', `${name} is not JSON: ${parsed.message}`, { hint: 'It should hold a work order or its requirements.' });
  }
  const { value } = parsed;
  if (isJsonObject(value) && value.task !== undefined) return parseAt(ForeignWorkOrder, value, name).requirements;
  return parseAt(CapabilityRequirements, isJsonObject(value) ? (value.requirements ?? value) : value, name);
}

async function readInput(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new CliError('usage', `cannot read ${path}`, { hint: 'Give the path of a JSON file, or - for the standard input.', cause });
  }
}
