import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { MarkedRun } from '../../store/receipts/mark-rows.ts';
import { MARKED_MEMBERS, marksOf } from '../../store/receipts/marks.ts';
import { type NewReceipt, runKey } from '../../store/receipts/receipt-columns.ts';
import type { Store } from '../../store/store.ts';
import { LEAVES } from '../journal/fact-rows.ts';
import type { CloseTexts, OpenTexts } from '../journal/texts.ts';
import { textReader } from '../keeper/stored.ts';
import { parsedText } from '../seal/canonical-text.ts';
import { COUNTED_MEMBERS, type Counted, callsIn, callUsage, isCall } from './call-usage.ts';
import { UsageSums } from './usage-sums.ts';

/** Calls of runs that are kept until they are added up; beyond that they are read from the database. */
const MOST_OF_RUNS = 5000;

/** The cost of calls of one model. */
export interface Spent {
  readonly engine: string;
  readonly model: string;
  readonly nanoUsd: number;
}

/** The share in usage of receipts that this process has sealed, so that none of them is read back from the database. */
export class SealedUsage {
  readonly #sums = new UsageSums();
  /** Calls of runs count for the key that asked for the run, which the database knows. */
  readonly #ofRuns: Counted[] = [];
  readonly #costs = new Map<string, Spent>();
  readonly #marked: MarkedRun[] = [];
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
    const document = membersOf(open, close);
    this.#marked.push({ ...marksOf(receipt, document), runKey: runKey(receipt.runId), startedAt: receipt.startedAt });
    if (!isCall(receipt)) return;
    this.#spend(receipt, document);
    if (document.parent_run_id === null) this.#sums.add(callUsage(receipt, document));
    else this.#ofRuns.push({ ...receipt, document });
  }

  /** The receipts of this batch with what lists find them by. */
  get marked(): readonly MarkedRun[] {
    return this.#marked;
  }

  /** The cost of the calls, by engine and model. */
  get spent(): readonly Spent[] {
    return [...this.#costs.values()];
  }

  #spend(receipt: NewReceipt, { cost, model }: JsonObject): void {
    const nanoUsd = isJsonObject(cost) ? cost.nano_usd : 0;
    if (typeof nanoUsd !== 'number' || nanoUsd === 0) return;
    const name = (isJsonObject(model) ? model.upstream : null) ?? receipt.model;
    const [engine, served] = [receipt.engine ?? '', typeof name === 'string' ? name : ''];
    const key = `${engine}\n${served}`;
    this.#costs.set(key, { engine, model: served, nanoUsd: (this.#costs.get(key)?.nanoUsd ?? 0) + nanoUsd });
  }

  /** Adds the receipts of a later batch. */
  join(later: SealedUsage): void {
    this.#sums.join(later.#sums);
    this.#ofRuns.push(...later.#ofRuns);
    this.#receipts += later.#receipts;
    this.#last = later.#last;
  }

  async sums(store: Store): Promise<UsageSums> {
    for (const call of await callsIn(store, this.#ofRuns)) this.#sums.add(call);
    this.#ofRuns.length = 0;
    return this.#sums;
  }
}

/** The members of a document that usage and marks are told by, each with the texts that fill it. */
const MEMBERS = [...new Set([...COUNTED_MEMBERS, ...MARKED_MEMBERS])].map((name) => ({
  name,
  parts: LEAVES.filter(({ path }) => path[0] === name).map((leaf) => ({ part: leaf.path[1], text: textReader(leaf) })),
}));

function membersOf(open: OpenTexts, close: CloseTexts): JsonObject {
  const texts = { open, close };
  const document: Record<string, Json> = {};
  for (const { name, parts } of MEMBERS) document[name] = memberOf(parts, texts);
  return document;
}

/** A member that is a value by itself has one part without a name. */
function memberOf(parts: (typeof MEMBERS)[number]['parts'], texts: { readonly open: OpenTexts; readonly close: CloseTexts }): Json {
  const member: Record<string, Json> = {};
  for (const { part, text } of parts) {
    const value = parsedText(text(texts));
    if (part === undefined) return value;
    member[part] = value;
  }
  return member;
}
