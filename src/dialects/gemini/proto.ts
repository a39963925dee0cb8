import type { JsonObject } from '../../base/json.ts';
import type { Concept } from '../../ir/concept.ts';
import { Fields, join } from '../../ir/ledger.ts';
import { otherMembers } from '../members.ts';

const snakes = new Map<string, string>();

/** `inlineData` as `inline_data`. */
export function snakeCase(key: string): string {
  const known = snakes.get(key);
  if (known !== undefined) return known;
  const snake = key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  snakes.set(key, snake);
  return snake;
}

/** `inline_data` as `inlineData`. */
export function camelCase(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The element of a list that may also stand without brackets. */
type Element<T> = T extends readonly (infer E)[] ? E & object : T extends object ? T : never;

/**
 * Reads an object of proto JSON: a member may be spelled in camelCase or snake_case, null means absent, and a list of one may be
 * written without its brackets. Claims and paths keep the caller's spelling.
 */
export class ProtoFields<T extends object> extends Fields<T> {
  /** The member, claimed as `concept`. */
  read<K extends keyof T & string>(key: K, concept: Concept): NonNullable<T[K]> | undefined {
    const value = this.peek(key);
    if (value !== undefined) this.ledger.claim(this.where(key), concept);
    return value;
  }

  /** The same for a value that states the default. */
  readUsual<K extends keyof T & string>(key: K, concept: Concept): void {
    if (this.peek(key) !== undefined) this.ledger.claimUsual(this.where(key), concept);
  }

  /** The member without a claim, save that a null is settled at once. */
  peek<K extends keyof T & string>(key: K): NonNullable<T[K]> | undefined {
    // Both spellings of a member have the one type that the schema checked.
    const value = this.value[this.#spelling(key)] as T[K] | null | undefined;
    if (value === null) this.ledger.claim(this.where(key), 'structure');
    return value ?? undefined;
  }

  /** Path of the member as the caller spells it. */
  where(key: string): string {
    return join(this.path, this.#spelling(key));
  }

  /** A member that is an object, to be read further. An empty one has nothing to read and is settled at once. */
  node<K extends keyof T & string>(key: K): ProtoFields<NonNullable<T[K]> & object> | undefined {
    const value = this.peek(key);
    if (typeof value !== 'object') return undefined;
    if (Object.keys(value).length === 0) this.ledger.claim(this.where(key), 'structure');
    return new ProtoFields(value, this.where(key), this.ledger);
  }

  /** The elements of a member that is a list of objects. */
  nodes<K extends keyof T & string>(key: K): ProtoFields<Element<NonNullable<T[K]>>>[] {
    const value = this.peek(key);
    if (typeof value !== 'object') return [];
    const path = this.where(key);
    // The schema checked the elements; Array.isArray widens them.
    if (!Array.isArray(value)) return [new ProtoFields(value as Element<NonNullable<T[K]>>, path, this.ledger)];
    if (value.length === 0) this.ledger.claim(path, 'structure');
    return (value as Element<NonNullable<T[K]>>[]).map((item, index) => new ProtoFields(item, join(path, index), this.ledger)); // as above
  }

  /** Members other than the known ones, in the caller's spelling. */
  others(known: readonly string[]): JsonObject | undefined {
    const members = Object.entries(otherMembers(this.value, [...known, ...known.map(snakeCase)]) ?? {});
    for (const [key, value] of members) if (value === null) this.ledger.claim(join(this.path, key), 'structure');
    const there = members.filter(([, value]) => value !== null);
    return there.length === 0 ? undefined : Object.fromEntries(there);
  }

  #spelling(key: string): keyof T & string {
    const snake = snakeCase(key);
    // A member that is there in neither spelling reads as undefined under either.
    return (Object.hasOwn(this.value, key) || !Object.hasOwn(this.value, snake) ? key : snake) as keyof T & string;
  }
}
