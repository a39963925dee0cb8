import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { EmulationEntry, FidelityEntry } from '../../contract/negotiation.ts';
import type { RunFates } from '../../runtime/gateway-port.ts';

/** Lines that one receipt of a run holds; beyond that it says how many there were. */
const MOST_LINES = 200;
const FOR_EXAMPLE = 'for example: ';
/** The key of one line: fields of one shape that shared a fate for one reason. */
const SEPARATOR = '\u0000';

/** The fate of one run's calls: of their fields, and which model served most of them. */
export class CallFates {
  readonly #asked = new FateSum('calls[*].');
  readonly #answered = new FateSum('answers[*].');
  readonly #emulations = new Map<string, EmulationEntry>();
  readonly #models = new Map<string, number>();

  /** Adds one call by its receipt. */
  add({ emulations, fidelity, answer_fidelity, model, usage }: JsonObject): void {
    this.#approximated(emulations);
    this.#asked.add(fidelity);
    this.#answered.add(answer_fidelity);
    const name = isJsonObject(model) ? model.upstream : undefined;
    if (typeof name !== 'string') return;
    const tokens = isJsonObject(usage) && typeof usage.output_tokens === 'number' ? usage.output_tokens : 0;
    // A call without an answer still names the model that it was meant for.
    this.#models.set(name, (this.#models.get(name) ?? 0) + 1 + tokens);
  }

  sum(): RunFates {
    const [most] = [...this.#models].toSorted(([, a], [, b]) => b - a);
    const emulations = [...this.#emulations].toSorted(([a], [b]) => compare(a, b)).map(([, one]) => one);
    return { upstreamModel: most?.[0] ?? null, emulations, fidelity: this.#asked.entries(), answerFidelity: this.#answered.entries() };
  }

  #approximated(emulations: Json | undefined): void {
    for (const item of Array.isArray(emulations) ? emulations : []) {
      const { success, data } = EmulationEntry.safeParse(item);
      if (success && this.#emulations.size < MOST_LINES) this.#emulations.set(JSON.stringify(data), data);
    }
  }
}

/** The fate of the fields of many calls: fields of one shape, one fate and one reason share a line and a count. */
class FateSum {
  readonly #prefix: string;
  readonly #lines = new Map<string, FidelityEntry & { count: number }>();
  #exact = 0;
  #beyond = 0;

  /** `prefix` stands before every path, such as `calls[*].`. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Adds the record of one call, as its receipt has it. */
  add(record: Json | undefined): void {
    for (const item of Array.isArray(record) ? record : []) {
      const { success, data } = FidelityEntry.safeParse(item);
      if (success) this.#addEntry(data);
    }
  }

  #addEntry({ path, fate, note, code, count = 1 }: FidelityEntry): void {
    if (fate === 'exact') {
      this.#exact += count;
      return;
    }
    const shape = path.replaceAll(/\[\d+\]/g, '[*]');
    const key = [shape, fate, code ?? note ?? ''].join(SEPARATOR);
    const known = this.#lines.get(key);
    if (known !== undefined) {
      known.count += count;
      // Notes name tools and fields; one stands for all that have the same reason.
      if (note !== known.note && known.note?.startsWith(FOR_EXAMPLE) === false) known.note = `${FOR_EXAMPLE}${known.note}`;
    } else if (this.#lines.size >= MOST_LINES) this.#beyond += count;
    else {
      const reason = { ...(note === undefined ? {} : { note }), ...(code === undefined ? {} : { code }) };
      this.#lines.set(key, { path: `${this.#prefix}${shape}`, fate, ...reason, count });
    }
  }

  /** In the order of their paths, so that runs which did the same say the same. */
  entries(): FidelityEntry[] {
    const lines = [...this.#lines.values()].toSorted(
      (a, b) => compare(a.path, b.path) || compare(a.fate, b.fate) || compare(a.note, b.note),
    );
    const rest = this.#beyond === 0 ? [] : [{ path: `${this.#prefix}*`, fate: 'dropped' as const, note: BEYOND, count: this.#beyond }];
    const exact = this.#exact === 0 ? [] : [{ path: `${this.#prefix}*`, fate: 'exact' as const, count: this.#exact }];
    return [...exact, ...lines, ...rest];
  }
}

const BEYOND = 'these had fates other than exact as well and are listed in the receipts of the calls; a run lists no more lines';

function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
