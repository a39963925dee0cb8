import { AbpError } from '../../contract/errors.ts';
import { hasSeveralChains } from '../../store/nodes.ts';
import { chainOf, listChains } from '../../store/receipts/chain.ts';
import type { Gateway } from '../gateway.ts';

/** How often other nodes are looked at: only those of this process ring a bell here. */
export const OTHERS_MS = 1000;

/**
 * How far a stream has told the chains of all nodes that share the database. Its text is the id of an event: the sequence in the chain of
 * this node where it is alone, else `chain:sequence` of each, so that a reader goes on where it was, on any node.
 */
export class ChainPlaces {
  readonly #gateway: Gateway;
  readonly #own: number;
  readonly #places: Map<number, number>;

  private constructor(gateway: Gateway, own: number, places: Map<number, number>) {
    this.#gateway = gateway;
    this.#own = own;
    this.#places = places;
  }

  /** After a place that was told before; without one, after all that is sealed now. A place behind the end is an error, or the end. */
  static async open(gateway: Gateway, after: string | undefined, beyond: 'refused' | 'end'): Promise<ChainPlaces> {
    const { store, home } = gateway;
    const own = await chainOf(store, home.nodeId);
    const chains = (await hasSeveralChains(store)) ? await listChains(store) : [own];
    const told = after === undefined ? undefined : placesIn(after, own.number);
    // A chain that the place does not name is younger than the place; a plain number is about the chain of this node alone.
    const from = (chain: number, tip: number): number => told?.get(chain) ?? (told === undefined || told.size === 1 ? tip : 0);
    const places = new Map(chains.map(({ number, sequence }) => [number, from(number, sequence)]));
    for (const { number, sequence, node } of chains) {
      if ((places.get(number) ?? 0) <= sequence) continue;
      places.set(number, sequence);
      if (beyond === 'end') continue;
      // Somebody who has seen more than there is would wait in silence: the database is an older one, or another.
      throw new AbpError(
        'invalid_request',
        `The chain of ${node} ends at ${sequence}, before ${from(number, sequence)}; begin without a position.`,
      );
    }
    return new ChainPlaces(gateway, own.number, places);
  }

  get text(): string {
    if (this.#places.size === 1) return String(this.#places.get(this.#own) ?? 0);
    return [...this.#places].map(([chain, sequence]) => `${chain}:${sequence}`).join(',');
  }

  /** The place in the chain of this node. */
  get own(): number {
    return this.#places.get(this.#own) ?? 0;
  }

  get several(): boolean {
    return this.#places.size > 1;
  }

  move(chain: number, sequence: number): void {
    this.#places.set(chain, sequence);
  }

  /** Chains that have something to tell, and from where on. Nodes that have come since count from their beginning. */
  async behind(): Promise<readonly { readonly chain: number; readonly place: number }[]> {
    const { store } = this.#gateway;
    if (store.kind === 'sqlite') return [{ chain: this.#own, place: this.own }];
    const chains = await store.db.selectFrom('chains').select(['number', 'sequence']).orderBy('number').execute();
    for (const { number } of chains) if (!this.#places.has(number)) this.#places.set(number, 0);
    return chains.flatMap(({ number, sequence }) => {
      const place = this.#places.get(number) ?? 0;
      return sequence > place ? [{ chain: number, place }] : [];
    });
  }
}

const PLACES = /^\d{1,9}:\d{1,15}(?:,\d{1,9}:\d{1,15})*$/;

/** The places that a text names; undefined where it names none. */
function placesIn(text: string, own: number): ReadonlyMap<number, number> | undefined {
  if (/^\d{1,15}$/.test(text)) return new Map([[own, Number(text)]]);
  if (!PLACES.test(text)) return undefined;
  return new Map(text.split(',').map((pair) => pair.split(':').map(Number) as [number, number])); // two numbers, as the pattern says
}

/** Whether a text is a place that a stream told. */
export function isPlace(text: string): boolean {
  return placesIn(text, 0) !== undefined;
}
