import type { z } from 'zod';
import type { Parts } from './parts.ts';

/** Who knows a field: the fact that opens the run, the one that closes it (or both, the later word counting), or we without being told. */
export type Source = 'open' | 'close' | 'both' | 'run' | 'began' | 'ended' | 'origin' | 'rule' | 'hash' | 'seal';

/**
 * How a value stands in the journal. `word` and `plain` are ours and need no escapes; `name`, `names`, `list` and `value` were chosen by
 * callers or engines, so secrets are taken out of them; `json` is ours and may have any members. The others are shapes of their own.
 */
export type Writing =
  | 'plain'
  | 'word'
  | 'name'
  | 'names'
  | 'list'
  | 'value'
  | 'json'
  | 'digest'
  | 'response'
  | 'usage'
  | 'cost'
  | 'error'
  | 'attempts'
  | 'calls';

/** How a column is made from the value: text cut to what an index takes, milliseconds since the epoch, a list of tags, a hash. */
export type ColumnKind = 'text' | 'time' | 'tags' | 'hash';

/**
 * Traits of a row besides its name and schema.
 *
 * @public The declarations of the package name it.
 */
export interface FieldTraits {
  /** Its JSON text while nobody has supplied it; `null` unless told. */
  readonly none?: string;
  /** Producers may leave it out. */
  readonly optional?: true;
  /** It has a column of the member's name; of several rows with one column, the first that has a value fills it. */
  readonly column?: ColumnKind;
  /** The first profile whose content hash covers it. */
  readonly hashed?: 1 | 2;
  /** Its name there, when that is another. */
  readonly hashedAs?: string;
  /** A member of each of its items that the hash leaves out. */
  readonly hashedWithout?: string;
  /** The form of journal lines that it came with; 2 unless told. */
  readonly since?: number;
  /** For a field of both facts: the form of journal lines from which on the end of a run may say it too. */
  readonly closingSince?: number;
}

/**
 * One field of the receipt.
 *
 * @public The declarations of the package name it.
 */
export interface Field extends FieldTraits {
  readonly schema: (parts: Parts) => z.ZodType;
  readonly from: Source;
  /** The property of the fact that supplies it. */
  readonly fact?: string;
  readonly text?: Writing;
}

/** Fields that stand together in one member. */
interface FieldGroup {
  readonly about: string;
  readonly parts: Readonly<Record<string, Field>>;
}

/** Tables say the type of their schemas: their declarations need the name of zod, which nothing else in their file brings. */
export type FieldTable<S extends z.ZodType = z.ZodType> = Readonly<
  Record<string, (Field & { readonly schema: (parts: Parts) => S }) | FieldGroup>
>;

/** The type that a table expects decides nothing here: without `NoInfer` it would be taken for that of the schema and of absent traits. */
type Supplied<S, F extends string, N extends string, Z, T> = {
  readonly from: S;
  readonly fact: F;
  readonly text: N;
  readonly schema: (parts: Parts) => NoInfer<Z>;
} & NoInfer<T>;

/** A field that one kind of fact supplies, under this name. */
function suppliedBy<const S extends 'open' | 'close' | 'both'>(from: S) {
  return <const F extends string, const W extends Writing, Z extends z.ZodType, const T extends FieldTraits = Record<never, never>>(
    fact: F,
    text: W,
    schema: (parts: Parts) => Z,
    traits?: T,
  ): Supplied<S, F, W, Z, T> => ({ from, fact, text, schema, ...(traits as T) }); // absent traits are those of no member
}

export const opened = suppliedBy('open');
export const closed = suppliedBy('close');
export const openedOrClosed = suppliedBy('both');

/** A field with its place in the document. */
export interface Leaf extends Field {
  /** The member of the document, and the member of that one when they are several. */
  readonly path: readonly [string] | readonly [string, string];
}

/** Every field of a table in its order. */
export function leavesOf(table: FieldTable): readonly Leaf[] {
  return Object.entries(table).flatMap(([name, row]): Leaf[] =>
    'parts' in row ? Object.entries(row.parts).map(([part, field]) => ({ ...field, path: [name, part] })) : [{ ...row, path: [name] }],
  );
}
