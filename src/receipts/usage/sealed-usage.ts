import { MarkRows } from '../../store/receipts/mark-rows.ts';
import { ownMarks } from '../../store/receipts/marks.ts';
import type { NewReceipt } from '../../store/receipts/receipt-columns.ts';
import type { Store } from '../../store/store.ts';
import { type CloseTexts, copyOf, type OpenTexts } from '../journal/texts.ts';
import { memberNumber, parsedText } from '../seal/canonical-text.ts';
import { type Alike, alikeOf } from './alike.ts';
import { behalvesOf, type CallFigures, callFigures, onBehalf } from './call-usage.ts';
import { hasReached, isUnsent } from './unsent.ts';
import { type KnownFacets, knownFacets, UsageSums } from './usage-sums.ts';

/** Calls of runs that are kept until they are added up; beyond that they are read from the database. */
const MOST_OF_RUNS = 5000;

/** The cost of calls of one model. */
export interface Spent {
  readonly engine: string;
  readonly model: string;
  readonly nanoUsd: number;
}

/** A call that was made on behalf of a run. */
interface CallOfRun {
  readonly parent: string;
  readonly facets: KnownFacets;
  readonly figures: CallFigures;
}

/** The share in usage of receipts that this process has sealed, so that none of them is read back from the database. */
export class SealedUsage {
  readonly #sums = new UsageSums();
  /** Calls of runs count for the key that asked for the run, which the database knows. */
  readonly #ofRuns: CallOfRun[] = [];
  readonly #costs = new Map<Alike, number>();
  /** Marks by which lists find the receipts. */
  readonly marks = new MarkRows();
  #receipts = 0;
  #last = 0;

  /** How many receipts are in it. */
  get receipts(): number {
    return this.#receipts;
  }

  /** The place of the last one in the chain. */
  get last(): number {
    return this.#last;
  }

  get isFull(): boolean {
    return this.#ofRuns.length > MOST_OF_RUNS;
  }

  /** Counts a receipt that is about to be written, from the texts that it is made of. */
  add(receipt: NewReceipt, open: OpenTexts, close: CloseTexts): void {
    this.#receipts += 1;
    this.#last = receipt.sequence ?? this.#last;
    const alike = alikeOf(receipt, open, close);
    const nanoUsd = memberNumber(close.get('cost'), 'nano_usd');
    const parent = String(parsedText(open.get('parent')) ?? '');
    this.marks.addKind(alike.kind);
    this.marks.add(alike.marks, receipt);
    this.marks.add(ownMarks(nanoUsd, parent), receipt);
    if (alike.call === undefined) return;
    if (nanoUsd !== undefined && nanoUsd !== 0) this.#costs.set(alike, (this.#costs.get(alike) ?? 0) + nanoUsd);
    const figures = callFigures(receipt, {
      nanoUsd,
      usage: parsedText(close.get('usage')),
      firstByteMs: numberOf(close.get('firstByteMs')),
      lastByteMs: numberOf(close.get('lastByteMs')),
      // Read where it matters: few calls come to nobody.
      reached: isUnsent(alike.call.of.error) && hasReached(alike.call.of.error, parsedText(close.get('attempts'))),
    });
    if (parent === '') this.#sums.count(alike.call, figures);
    else this.#ofRuns.push({ parent: copyOf(parent), facets: alike.call, figures });
  }

  /** The cost of the calls, by engine and model. */
  get spent(): readonly Spent[] {
    const costs = new Map<string, Spent>();
    for (const [{ engine, served }, nanoUsd] of this.#costs) {
      const key = `${engine}\n${served}`;
      costs.set(key, { engine, model: served, nanoUsd: (costs.get(key)?.nanoUsd ?? 0) + nanoUsd });
    }
    return [...costs.values()];
  }

  /** Adds the receipts of a later batch. */
  join(later: SealedUsage): void {
    this.#sums.join(later.#sums);
    this.#ofRuns.push(...later.#ofRuns);
    this.#receipts += later.#receipts;
    this.#last = later.#last;
  }

  async sums(store: Store): Promise<UsageSums> {
    const behalves = await behalvesOf(
      store,
      this.#ofRuns.map(({ parent }) => parent),
    );
    for (const { parent, facets, figures } of this.#ofRuns) {
      const behalf = behalves.get(parent);
      this.#sums.count(behalf === undefined ? facets : knownFacets(onBehalf(facets.of, behalf)), figures);
    }
    this.#ofRuns.length = 0;
    return this.#sums;
  }
}

/** A number, or none, as a fact writes it. */
function numberOf(text: string): number | null {
  return text === 'null' ? null : Number(text);
}
