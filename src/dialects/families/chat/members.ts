import type { JsonObject } from '../../../base/json.ts';
import type { Concept } from '../../../ir/concept.ts';
import type { Fields } from '../../../ir/ledger.ts';
import { otherMembers } from '../../members.ts';
import type { ChatFlavour } from './flavour.ts';
import type { Request } from './wire.ts';

/**
 * Reads the members of a Chat body and remembers which ones the IR carries; the others stay with the dialect. A null and a
 * written-out default say what absence says, so they are claimed as structure, which no engine can lose, and are not carried.
 */
export class Members {
  readonly f: Fields<Request>;
  readonly #names: ChatFlavour['names'];
  readonly #carried = new Set<string>();

  constructor(f: Fields<Request>, names: ChatFlavour['names']) {
    this.f = f;
    this.#names = names;
  }

  /** A member that the IR carries from here on. One that the vendor has no form for also stays as it was written. */
  read<K extends keyof Request & string>(
    key: K,
    concept: Concept,
    isDefault: (value: NonNullable<Request[K]>) => boolean = () => false,
    /** The members that are known of a value which is an object; without them it is claimed whole. */
    names?: readonly string[],
  ): NonNullable<Request[K]> | undefined {
    const value = this.f.value[key];
    if (value === undefined) return undefined;
    if (value === null || isDefault(value)) {
      this.#takeUsual(key, concept, names);
      return undefined;
    }
    if (this.#names[concept] !== undefined) this.carry(key);
    return (names === undefined ? this.f.take(key, concept) : this.f.takeMembers(key, concept, names)) ?? undefined;
  }

  /** A default says nothing; what nobody knows beside it may say something. */
  #takeUsual<K extends keyof Request & string>(key: K, concept: Concept, names: readonly string[] | undefined): void {
    const inner = names === undefined ? undefined : this.f.object(key);
    if (inner === undefined || names === undefined) {
      this.f.takeUsual(key, concept);
      return;
    }
    const fields = inner as Fields<Readonly<Record<string, unknown>>>; // members are looked up by name
    for (const name of names) fields.takeUsual(name, concept);
  }

  /** A member that also stays with the dialect as it was written. */
  peek<K extends keyof Request & string>(key: K, concept: Concept): NonNullable<Request[K]> | undefined {
    const value = this.f.value[key];
    if (value === undefined) return undefined;
    if (value === null) this.f.takeUsual(key, concept);
    else this.f.take(key, concept);
    return value ?? undefined;
  }

  carry(key: string): void {
    this.#carried.add(key);
  }

  /** Members nobody carries. */
  rest(): JsonObject | undefined {
    return otherMembers(this.f.value, [...this.#carried]);
  }
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The members that have a value. */
export function given<T extends object>(members: T): Given<T> {
  // Exactly the undefined ones are left out, which is what the type says.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>;
}
