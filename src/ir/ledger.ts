import type { FateCode } from '../contract/fate-codes.ts';
import type { Concept } from './concept.ts';

/** A place that is served by other means because of how the IR says it. */
export interface Remark {
  readonly at: string;
  readonly concept: Concept;
  readonly code: FateCode;
  readonly note: string;
}

/** Why a member has no effect on anything: another one goes before it, or it means something only beside another one. */
export interface Idle {
  readonly code: FateCode;
  readonly note: string;
}

export function lostTo(other: string): Idle {
  return { code: 'lost_to_other', note: `${other} goes before it` };
}

export function meansNothing(without: string): Idle {
  return { code: 'means_nothing_alone', note: `means nothing ${without}` };
}

/** Which concept claims which path of the caller's body. A claim covers everything below its path. */
export class Ledger {
  readonly #claims = new Map<string, Concept>();
  readonly #usual = new Set<string>();
  readonly #remarks: Remark[] = [];
  readonly #idle = new Map<string, Idle>();
  /** Whether anyone will ask what was claimed. Without it places have no names, which are most of the cost of a long conversation. */
  readonly kept: boolean;

  constructor({ kept = true }: { readonly kept?: boolean } = {}) {
    this.kept = kept;
  }

  claim(path: string, concept: Concept): void {
    this.#claims.set(path, concept);
  }

  /** A claim on a value that states the default: nothing is asked for, so nothing can be lost. */
  claimUsual(path: string, concept: Concept): void {
    this.claim(path, concept);
    this.#usual.add(path);
  }

  /** Says of a place what reading it into the IR made of it, for callers of whom another dialect is spoken to. */
  remark(remark: Remark): void {
    if (this.kept) this.#remarks.push(remark);
  }

  /** Says of a member, and of everything below it, that nothing depends on it. */
  leaveIdle(path: string, why: Idle): void {
    if (this.kept) this.#idle.set(path, why);
  }

  get idle(): ReadonlyMap<string, Idle> {
    return this.#idle;
  }

  get remarks(): readonly Remark[] {
    return this.#remarks;
  }

  get usual(): ReadonlySet<string> {
    return this.#usual;
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

  /** The same for a value that states the default. */
  takeUsual<K extends keyof T & string>(key: K, concept: Concept): T[K] {
    const value = this.value[key];
    if (value !== undefined && this.ledger.kept) this.ledger.claimUsual(join(this.path, key), concept);
    return value;
  }

  /** A member that is an object, of which only the named members are claimed: those that nobody knows stay without a claim. */
  takeMembers<K extends keyof T & string>(key: K, concept: Concept, names: readonly string[]): T[K] {
    const inner = this.object(key);
    if (inner === undefined) return this.take(key, concept);
    if (Object.keys(inner.value).length === 0) return this.take(key, 'structure');
    const fields = inner as Fields<Readonly<Record<string, unknown>>>; // members are looked up by name
    for (const name of names) fields.take(name, concept);
    return this.value[key];
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
