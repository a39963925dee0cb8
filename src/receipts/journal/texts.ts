import { FACT_ROWS, type FactRow, noneOf } from './fact-rows.ts';
import type { CloseName, OpenName } from './facts.ts';

/** The head of every line, before the values: its kind, the run without quotes, and the time. */
const BEFORE = ['kind', 'run', 'at'] as const;
type Before = 'run' | 'at';
const KIND_AND_RUN = 2;

/**
 * A fact on its way to a receipt: each value as JSON text, as the journal holds it. The keeper cuts lines apart and puts receipts
 * together from the pieces, without a tree of values in between.
 */
export class Texts<Name extends string> {
  readonly #places: ReadonlyMap<string, number>;
  /** By place: kind, run, time, then the rows of the kind in the order of the table. */
  readonly values: readonly string[];

  constructor(places: ReadonlyMap<string, number>, values: readonly string[]) {
    this.#places = places;
    this.values = values;
  }

  /** The text of one value. */
  get(name: Name | Before): string {
    return this.values[this.#places.get(name) ?? -1] ?? '';
  }

  /** The same with some of the values changed. */
  with(changes: Partial<Record<Name | Before, string>>): Texts<Name> {
    const values = this.values.slice();
    // One of these is made for nearly every receipt; a list of entries would be as dear as the copy.
    const given: Partial<Record<string, string>> = changes;
    for (const name in given) {
      const text = given[name];
      if (text !== undefined) values[this.#places.get(name) ?? values.length] = text;
    }
    return new Texts(this.#places, values);
  }
}

export type OpenTexts = Texts<OpenName>;
export type CloseTexts = Texts<CloseName>;

function placesOf(rows: readonly FactRow[]): ReadonlyMap<string, number> {
  return new Map([...BEFORE, ...rows.map(({ fact }) => fact)].map((name, place) => [name, place]));
}

/** Where each value stands. */
export const PLACES = { open: placesOf(FACT_ROWS.open), close: placesOf(FACT_ROWS.close) } as const;

/** The end of a run that goes on: nothing is known, hence no time either. */
export const NOT_ENDED: CloseTexts = new Texts(PLACES.close, ['close', '', '', ...FACT_ROWS.close.map(noneOf)]);

/** The first place that a row has. */
export const FIRST_VALUE = KIND_AND_RUN + 1;

/** A copy that stands alone: a part of a string keeps the whole string alive, here a whole batch of lines. */
export function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
