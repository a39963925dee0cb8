import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import { join, type Ledger } from '../ir/ledger.ts';
import type { HostedLimit, HostedLimits, IrHostedTool } from '../ir/request.ts';
import type { FateNote } from './dialect.ts';

/** Where a vendor writes each limit, from the declaration of its tool. */
export type LimitPlaces = Readonly<Partial<Record<HostedLimit, readonly string[]>>>;

/** Members of a hosted tool that say how much it reads or shows; losing them loses no limit. */
const HINTS = [
  ...['search_context_size', 'max_content_tokens', 'citations', 'use_cache', 'external_web_access', 'search_content_types'],
  ...['allowed_callers', 'defer_loading', 'searchTypes'],
];
/** Members that say which tool it is. */
const NAMES = ['type', 'name', 'cache_control'];

/** Reads the limits of a hosted tool and claims them one by one, so that no other tool takes its place without them. */
export function liftLimits(tool: JsonObject, path: string, places: LimitPlaces, ledger: Ledger): { limits?: HostedLimits } {
  claimOthers(tool, path, Object.values(places), ledger);
  const { container } = tool;
  if (isJsonObject(container) && isNothing('container', container)) ledger.claim(join(path, 'container'), 'tool_option');
  for (const hint of HINTS) if (tool[hint] !== undefined) ledger.claim(join(path, hint), 'tool_option');
  if (tool.cache_control !== undefined) ledger.claim(join(path, 'cache_control'), 'cache_mark');
  const limits = Object.entries(places).flatMap(([name, steps]) => {
    const value = steps.reduce<Json | undefined>((inner, step) => (isJsonObject(inner) ? inner[step] : undefined), tool);
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return [];
    const at = steps.reduce(join, path);
    ledger.claim(at, 'hosted_limit');
    return [[name, { value: name === 'userLocation' ? placeOf(value, at, ledger) : value, at }] as const];
  });
  return limits.length === 0 ? {} : { limits: Object.fromEntries(limits) };
}

/** A location without its type: there is one type, and vendors write it in different places. */
function placeOf(location: Json, at: string, ledger: Ledger): Json {
  if (!isJsonObject(location)) return location;
  const { type, ...place } = location;
  assertApproximate(type, at);
  if (type !== undefined) ledger.claim(join(at, 'type'), 'structure');
  return place;
}

export function assertApproximate(type: Json | undefined, at: string): void {
  if (type !== undefined && type !== null && type !== 'approximate')
    throw new AbpError('invalid_request', `${at}.type: "approximate" is the only type of a location`);
}

/** Members that no table knows may be limits, too: what they say must not get lost under the name of another vendor's tool. */
function claimOthers(tool: JsonObject, path: string, places: readonly (readonly string[])[], ledger: Ledger): void {
  for (const [key, value] of Object.entries(tool)) {
    const inner = places.filter(([first]) => first === key).map(([, ...rest]) => rest);
    if (NAMES.includes(key) || HINTS.includes(key) || inner.some((rest) => rest.length === 0)) continue;
    if (inner.length > 0 && isJsonObject(value)) claimOthers(value, join(path, key), inner, ledger);
    else if (!isNothing(key, value)) ledger.claim(join(path, key), 'vendor_option');
  }
}

/** A container that the vendor makes for the call is what every tool has that runs code. */
function isNothing(key: string, value: Json): boolean {
  if (key !== 'container' || !isJsonObject(value)) return value === null;
  return Object.keys(value).every((member) => member === 'type' || member === 'memory_limit');
}

/** Writes the limits that the tool's wire has a place for; every other one stands in the way. */
export function lowerLimits(tool: IrHostedTool, places: LimitPlaces, served: string, notes: FateNote[]): JsonObject {
  let out: JsonObject = {};
  for (const [name, { value, at }] of Object.entries(tool.limits ?? {})) {
    const steps = places[name as HostedLimit]; // a key of the limits
    if (steps === undefined) {
      notes.push({ concept: 'hosted_limit', fate: 'refused', code: 'hosted_limit', note: `${served} has no such limit`, at });
      continue;
    }
    notes.push({ concept: 'hosted_limit', fate: 'renamed', code: 'other_name', note: steps.join('.'), at });
    // Chat writes the type of a location beside it.
    const typed = name === 'userLocation' && isJsonObject(value) && steps.length === 1 ? { type: 'approximate', ...value } : value;
    out = withValue(out, steps, typed);
  }
  return out;
}

function withValue(object: JsonObject, [step = '', ...rest]: readonly string[], value: Json): JsonObject {
  const inner = object[step];
  return { ...object, [step]: rest.length === 0 ? value : withValue(isJsonObject(inner) ? inner : {}, rest, value) };
}
