import { isJsonObject } from '../base/json.ts';
import { parseAt } from '../contract/border.ts';
import { CapabilityRequirements } from '../contract/support.ts';
import { ForeignWorkOrder } from '../contract/work-orders/work-order.ts';
import type { Requirements } from '../negotiation/negotiate.ts';
import type { Io } from './io.ts';
import { readJson } from './json-input.ts';

/** `name` or `name=level` as requirements; without a level, emulation is good enough. */
export function parseRequire(items: readonly string[]): Requirements {
  const required = items.map((item) => {
    const [capability, level = 'emulated'] = item.split('=', 2).map((word) => word.trim());
    return { capability, min_support: level };
  });
  return parseAt(CapabilityRequirements, { required }, '--require');
}

/** The requirements in a file: a work order, a body of `POST /v1/negotiate`, or the bare requirements. `-` is the standard input. */
export async function readRequirements(path: string, io: Io): Promise<Requirements> {
  const value = await readJson(path, io);
  const name = path === '-' ? 'the standard input' : path;
  if (isJsonObject(value) && value.task !== undefined) return parseAt(ForeignWorkOrder, value, name).requirements;
  return parseAt(CapabilityRequirements, isJsonObject(value) ? (value.requirements ?? value) : value, name);
}
