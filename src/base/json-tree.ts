import { parseJson } from './json.ts';

/** JSON as it was written: numbers keep their digits, objects keep every member, repeated ones too. */
export type JsonTree =
  | { readonly kind: 'scalar'; readonly text: string }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'array'; readonly items: readonly JsonTree[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, JsonTree])[] };

/** Deeper nesting than this is refused, before it can exhaust the stack. */
const DEEPEST = 500;
const TOKEN = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|([^\s{}[\],:"]+))/y;

/** The tree of a text that `parseJson` accepts; the caller has asked it first. Undefined when it is nested too deeply. */
export function jsonTree(text: string): JsonTree | undefined {
  const reader = new Reader(text);
  return reader.value(0);
}

class Reader {
  readonly #text: string;
  #at = 0;
  #token = '';

  constructor(text: string) {
    this.#text = text;
    this.#next();
  }

  #next(): string {
    const taken = this.#token;
    TOKEN.lastIndex = this.#at;
    const found = TOKEN.exec(this.#text);
    this.#at = TOKEN.lastIndex;
    this.#token = found?.[1] ?? found?.[2] ?? found?.[3] ?? '';
    return taken;
  }

  value(depth: number): JsonTree | undefined {
    if (depth > DEEPEST) return undefined;
    const token = this.#next();
    if (token === '{') return this.#object(depth);
    if (token === '[') return this.#array(depth);
    return token.startsWith('"') ? { kind: 'string', value: decoded(token) } : { kind: 'scalar', text: token };
  }

  #array(depth: number): JsonTree | undefined {
    const items: JsonTree[] = [];
    while (this.#token !== ']') {
      const item = this.value(depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
      if (this.#token === ',') this.#next();
    }
    this.#next();
    return { kind: 'array', items };
  }

  #object(depth: number): JsonTree | undefined {
    const members: [string, JsonTree][] = [];
    while (this.#token !== '}') {
      const name = decoded(this.#next());
      this.#next();
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      members.push([name, value]);
      if (this.#token === ',') this.#next();
    }
    this.#next();
    return { kind: 'object', members };
  }
}

function decoded(token: string): string {
  // Nearly every string stands for itself.
  if (!token.includes('\\')) return token.slice(1, -1);
  const parsed = parseJson(token);
  return parsed.ok ? String(parsed.value) : token;
}

/** The first member that an object of the tree has twice, as a path. */
export function repeatedMember(tree: JsonTree, path = ''): string | undefined {
  if (tree.kind === 'array') return firstOf(tree.items.map((item, at) => [item, `${path}[${at}]`] as const));
  if (tree.kind !== 'object') return undefined;
  const names = new Set<string>();
  for (const [name] of tree.members) {
    if (names.has(name)) return `${path}${path === '' ? '' : '.'}${name}`;
    names.add(name);
  }
  return firstOf(tree.members.map(([name, value]) => [value, `${path}${path === '' ? '' : '.'}${name}`] as const));
}

function firstOf(places: readonly (readonly [JsonTree, string])[]): string | undefined {
  for (const [tree, path] of places) {
    const found = repeatedMember(tree, path);
    if (found !== undefined) return found;
  }
  return undefined;
}
