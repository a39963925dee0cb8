import { isExactNumber, isJsonObject, type Json } from '../base/json.ts';
import type { FidelityEntry } from '../contract/negotiation.ts';
import type { LoweredRequest } from '../dialects/dialect.ts';
import { join } from '../ir/ledger.ts';

type Step = string | number;

/** So many fields are followed at most, so much text is translated again for it, and so many places of one field are named. */
const MOST_FOLLOWED = 200;
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_PLACES = 8;

/** Words of fixed lists, each with those that may stand in its place: another word than these would be refused and show nothing. Roles are not among them: another role joins neighbours, and what then differs is not its place. */
const WORD_LISTS: readonly (readonly string[])[] = [
  ['auto', 'any', 'none', 'required'],
  ['AUTO', 'ANY', 'NONE'],
  ['low', 'medium', 'high'],
];

/**
 * Says of each field where in the engine's request it went. Nobody writes that down while translating: each field is changed a little,
 * and what is then different upstream came of it. A field of which no changed value can be sent names no place.
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
  const follow = ({ path }: FidelityEntry, leaf: Leaf): string[] => {
    if (path === 'model') return placesOfModel(sent, leaf.value);
    for (const value of changed(leaf.value)) {
      if (followed >= most) break;
      followed += 1;
      const other = translate(withLeaf(body, leaf.steps, value));
      const to = other === undefined ? [] : placesOf(sent, other, leaf);
      if (to.length > 0) return to;
    }
    return [];
  };
  return entries.map((entry) => {
    const leaf = leaves.get(entry.path) ?? leaves.get(shapeOf(entry.path));
    if (leaf === undefined || entry.fate === 'dropped' || entry.fate === 'refused') return entry;
    const to = follow(entry, leaf);
    return to.length === 0 ? entry : { ...entry, to };
  });
}

/** The model is chosen before the request is translated, so a changed name would change nothing: its place is known by its name. */
function placesOfModel({ body, path }: LoweredRequest, asked: Json): string[] {
  if (isJsonObject(body) && typeof body.model === 'string') return ['/model'];
  return typeof asked === 'string' && path.includes(encodeURIComponent(asked)) ? ['path'] : [];
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

/** Other values of a field, the likeliest to be taken first: bounds and fixed lists refuse some. */
function changed(value: Json): readonly Json[] {
  if (typeof value === 'string') {
    const words = WORD_LISTS.flatMap((list) => (list.includes(value) ? list.filter((word) => word !== value) : []));
    return [...new Set(words), `${value}x`];
  }
  if (typeof value === 'number') return [value + 1, value / 2, value - 1];
  return typeof value === 'boolean' ? [!value] : [];
}

function withLeaf(value: Json, [step, ...rest]: readonly Step[], leaf: Json): Json {
  if (step === undefined) return leaf;
  if (Array.isArray(value)) return value.map((item: Json, at) => (at === step ? withLeaf(item, rest, leaf) : item));
  return isJsonObject(value) ? { ...value, [step]: withLeaf(value[step] ?? null, rest, leaf) } : value;
}

/** Of the places that differ those come first that hold the very value; the others changed along with it. */
function placesOf(sent: LoweredRequest, other: LoweredRequest, leaf: Leaf): string[] {
  const found = differences(sent.body, other.body, []);
  const holds = (steps: readonly Step[]): boolean => JSON.stringify(reached(sent.body, steps)) === JSON.stringify(leaf.value);
  const own = found.filter(holds);
  // A changed word may change the form of what stands around it: then the place is the member of its own name in there.
  const beside = [...sharedSteps(found), leaf.steps.at(-1) ?? ''];
  const places = (own.length > 0 ? own : found.length > 1 && holds(beside) ? [beside] : found).map(pointer);
  if (sent.path !== other.path) places.push('path');
  if (JSON.stringify(sent.headers) !== JSON.stringify(other.headers)) places.push('header');
  return places.slice(0, MOST_PLACES);
}

function reached(value: Json | undefined, steps: readonly Step[]): Json | undefined {
  return steps.reduce<Json | undefined>((at, step) => (at === undefined ? undefined : new Map(membersOf(at)).get(step)), value);
}

function sharedSteps([first = [], ...others]: readonly (readonly Step[])[]): readonly Step[] {
  const end = first.findIndex((step, at) => others.some((steps) => steps[at] !== step));
  return end === -1 ? first : first.slice(0, end);
}

function differences(one: Json | undefined, other: Json | undefined, steps: readonly Step[]): (readonly Step[])[] {
  if (one === undefined || other === undefined) return one === other ? [] : [steps];
  const [left, right] = [new Map(membersOf(one)), new Map(membersOf(other))];
  if (left.size === 0 || right.size === 0) return JSON.stringify(one) === JSON.stringify(other) ? [] : [steps];
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((key) => differences(left.get(key), right.get(key), [...steps, key]));
}

function pointer(steps: readonly Step[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
