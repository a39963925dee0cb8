import type { Concept } from './concept.ts';

/** Which concept claims which path of the caller's body. A claim covers everything below its path. */
export class Ledger {
  readonly #claims = new Map<string, Concept>();
  /** Whether anyone will ask what was claimed. Without it places have no names, which are most of the cost of a long conversation. */
  readonly kept: boolean;

  constructor({ kept = true }: { readonly kept?: boolean } = {}) {
    this.kept = kept;
  }

  claim(path: string, concept: Concept): void {
    this.#claims.set(path, concept);
  }

  get claims(): ReadonlyMap<string, Concept> {
    return this.#claims;
  }
}

/** Path of a member or an element: `messages[0].content`. */
export function join(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

/**
 * Reads the members of one object of the caller's body and enters each reading into the ledger. A member nobody takes stays
 * unclaimed, and an unclaimed leaf is a refused request: that is how nothing is lost silently.
 */
export class Fields<T extends object> {
  readonly value: T;
  readonly path: string;
  readonly ledger: Ledger;

  constructor(value: T, path: string, ledger: Ledger) {
    this.value = value;
    this.path = path;
    this.ledger = ledger;
  }

  /** The member with everything below it, claimed as `concept`. */
  take<K extends keyof T & string>(key: K, concept: Concept): T[K] {
    const value = this.value[key];
    if (value !== undefined && this.ledger.kept) this.ledger.claim(join(this.path, key), concept);
    return value;
  }

  at(key: string | number): string {
    return this.ledger.kept ? join(this.path, key) : '';
  }

  /** A member that is an object, to be read further. */
  object<K extends keyof T & string>(key: K): Fields<NonNullable<T[K]> & object> | undefined {
    const value = this.value[key];
    return typeof value === 'object' && value !== null ? new Fields(value, this.at(key), this.ledger) : undefined;
  }

  /** The elements of a member that is a list of objects. An empty list is claimed as structure. */
  list<K extends keyof T & string>(key: K): Fields<ElementOf<T[K]>>[] {
    const value = this.value[key];
    if (!Array.isArray(value)) return [];
    const path = this.at(key);
    if (value.length === 0) this.ledger.claim(path, 'structure');
    const { kept } = this.ledger;
    // The array's element type is what ElementOf names; Array.isArray widens it.
    return (value as ElementOf<T[K]>[]).map((item, index) => new Fields(item, kept ? join(path, index) : '', this.ledger));
  }
}

export type ElementOf<T> = NonNullable<T> extends readonly (infer E)[] ? E & object : never;
