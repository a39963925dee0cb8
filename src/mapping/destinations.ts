import { isExactNumber, isJsonObject, type Json } from '../base/json.ts';
import type { FidelityEntry } from '../contract/negotiation.ts';
import type { LoweredRequest } from '../dialects/dialect.ts';
import { join } from '../ir/ledger.ts';

type Step = string | number;

/** So many fields are followed at most, so much text is translated again for it, and so many places of one field are named. */
const MOST_FOLLOWED = 200;
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_PLACES = 8;

/**
 * Says of each field where in the engine's request it went. Nobody writes that down while translating: each field is changed a little,
 * and what is then different upstream came of it. A field whose value is a word of a fixed list names no place.
 */
export function withPlaces(
  body: Json,
  entries: readonly FidelityEntry[],
  translate: (body: Json) => LoweredRequest | undefined,
  sent: LoweredRequest,
): FidelityEntry[] {
  const most = Math.min(MOST_FOLLOWED, Math.floor(MOST_BYTES / Math.max(1, JSON.stringify(sent.body).length)));
  const leaves = firstLeaves(body);
  let followed = 0;
  return entries.map((entry) => {
    const leaf = leaves.get(entry.path) ?? leaves.get(shapeOf(entry.path));
    if (leaf === undefined || entry.fate === 'dropped' || entry.fate === 'refused' || followed >= most) return entry;
    followed += 1;
    const other = translate(withLeaf(body, leaf.steps, changed(leaf.value)));
    const to = other === undefined ? [] : placesOf(sent, other);
    return to.length === 0 ? entry : { ...entry, to };
  });
}

/** Where the fields of a request go that passes as it is. */
export function ownPlaces(body: Json, entries: readonly FidelityEntry[]): FidelityEntry[] {
  const leaves = firstLeaves(body);
  return entries.map((entry) => {
    const leaf = leaves.get(entry.path) ?? leaves.get(shapeOf(entry.path));
    return leaf === undefined ? entry : { ...entry, to: [pointer(leaf.steps)] };
  });
}

interface Leaf {
  readonly steps: readonly Step[];
  readonly value: Json;
}

function shapeOf(path: string): string {
  return path.replaceAll(/\[\d+\]/g, '[*]');
}

/** Every leaf by its path, and the first one of each shape. */
function firstLeaves(body: Json): ReadonlyMap<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  const visit = (value: Json, steps: readonly Step[], path: string): void => {
    const members = membersOf(value);
    for (const [key, member] of members) visit(member, [...steps, key], join(path, key));
    if (members.length > 0) return;
    const leaf = { steps, value };
    leaves.set(path, leaf);
    if (!leaves.has(shapeOf(path))) leaves.set(shapeOf(path), leaf);
  };
  visit(body, [], '');
  return leaves;
}

function membersOf(value: Json): readonly (readonly [Step, Json])[] {
  if (Array.isArray(value)) return value.map((item: Json, index) => [index, item] as const);
  return isJsonObject(value) && !isExactNumber(value) ? Object.entries(value) : [];
}

function changed(value: Json): Json {
  if (typeof value === 'string') return `${value}x`;
  if (typeof value === 'number') return value + 1;
  return typeof value === 'boolean' ? !value : value;
}

function withLeaf(value: Json, [step, ...rest]: readonly Step[], leaf: Json): Json {
  if (step === undefined) return leaf;
  if (Array.isArray(value)) return value.map((item: Json, at) => (at === step ? withLeaf(item, rest, leaf) : item));
  return isJsonObject(value) ? { ...value, [step]: withLeaf(value[step] ?? null, rest, leaf) } : value;
}

function placesOf(sent: LoweredRequest, other: LoweredRequest): string[] {
  const places = differences(sent.body, other.body, []);
  if (sent.path !== other.path) places.push('path');
  if (JSON.stringify(sent.headers) !== JSON.stringify(other.headers)) places.push('header');
  return places.slice(0, MOST_PLACES);
}

function differences(one: Json | undefined, other: Json | undefined, steps: readonly Step[]): string[] {
  if (one === undefined || other === undefined) return one === other ? [] : [pointer(steps)];
  const [left, right] = [new Map(membersOf(one)), new Map(membersOf(other))];
  if (left.size === 0 || right.size === 0) return JSON.stringify(one) === JSON.stringify(other) ? [] : [pointer(steps)];
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((key) => differences(left.get(key), right.get(key), [...steps, key]));
}

function pointer(steps: readonly Step[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
