import type { EgressRecord } from '../../../confinement/egress.ts';
import type { RuleRecord } from '../../../contract/receipts/parts.ts';

/** Places that a receipt names, of those that were reached and of those that were refused. */
const MOST_PLACES = 1000;

/**
 * Every place that a confined program reached or wanted to reach, with how often. Places that were refused leave room for those that were
 * reached, so that a program cannot hide where it was behind a thousand places where it was not; what is beyond is counted.
 */
export class EgressBook {
  readonly #counts = new Map<string, number>();
  readonly #places = { reached: 0, refused: 0 };
  readonly #beyond = { reached: 0, refused: 0 };

  /** Whether the place is new, and one that the receipt names. */
  add({ host, port, refused }: EgressRecord): boolean {
    const place = refused === undefined ? `${host}:${port}` : `${host}:${port} refused: it ${refused}`;
    const kind = refused === undefined ? 'reached' : 'refused';
    const count = this.#counts.get(place);
    if (count === undefined && this.#places[kind] >= MOST_PLACES) {
      this.#beyond[kind] += 1;
      return false;
    }
    this.#counts.set(place, (count ?? 0) + 1);
    if (count === undefined) this.#places[kind] += 1;
    return count === undefined;
  }

  rules(): RuleRecord[] {
    const places = [...this.#counts].map(([place, count]) => (count === 1 ? place : `${place} (${count} times)`));
    const beyond = Object.entries(this.#beyond).flatMap(([kind, count]) =>
      count === 0 ? [] : [`${count} more connections were ${kind}, to further places`],
    );
    return [...places, ...beyond].map((detail) => ({ rule: 'network', by: 'os', detail }));
  }
}
