import { isJsonObject, type Json } from '../../base/json.ts';

/** The value without what the pointers name; `*` stands for any one step. */
export function without(value: Json, pointers: readonly string[]): Json {
  return pointers.reduce((rest, pointer) => removed(rest, stepsOf(pointer)), value);
}

/** RFC 6901. */
function stepsOf(pointer: string): string[] {
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function removed(value: Json, [step, ...rest]: readonly string[]): Json {
  if (step === undefined) return value;
  const matches = (name: string): boolean => step === '*' || step === name;
  if (Array.isArray(value)) {
    return value.flatMap((item: Json, at) => (matches(String(at)) ? (rest.length === 0 ? [] : [removed(item, rest)]) : [item]));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      matches(name) ? (rest.length === 0 ? [] : [[name, removed(member, rest)]]) : [[name, member]],
    ),
  );
}

/** Pointers to the leaves in which two values differ, up to `most` of them. */
export function differences(a: Json | undefined, b: Json | undefined, most: number): string[] {
  const found: string[] = [];
  collect(a, b, { at: '', most, found });
  return found;
}

interface Walk {
  readonly at: string;
  readonly most: number;
  readonly found: string[];
}

function collect(a: Json | undefined, b: Json | undefined, { at, most, found }: Walk): void {
  if (found.length >= most || a === b) return;
  const names = namesOf(a, b);
  if (names === undefined) {
    found.push(at === '' ? '/' : at);
    return;
  }
  for (const name of names) {
    const step = name.replaceAll('~', '~0').replaceAll('/', '~1');
    collect(memberOf(a, name), memberOf(b, name), { at: `${at}/${step}`, most, found });
  }
}

/** Names of the members of two values of the same kind; undefined where they are leaves or of different kinds. */
function namesOf(a: Json | undefined, b: Json | undefined): string[] | undefined {
  if (Array.isArray(a) && Array.isArray(b)) return Array.from({ length: Math.max(a.length, b.length) }, (_, at) => String(at));
  if (isJsonObject(a) && isJsonObject(b)) return [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return undefined;
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(name)];
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
