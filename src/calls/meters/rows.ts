import { type JsonObject, parseJsonObject } from '../../base/json.ts';
import type { Observed, StreamObserver } from '../../dialects/dialect.ts';
import { addUsage, type IrUsage, type SideUsage } from '../../ir/usage.ts';

/** What a row of results tells: that it is one, and what was used for it. */
export interface Row {
  readonly model?: string | undefined;
  readonly usage?: IrUsage | undefined;
}

/** Reads one row; undefined where it is none of a result. */
export type ReadRow = (row: JsonObject) => Row | undefined;

/** So many lines show whether a file holds results. */
const SHOWING = 3;

/** What the rows of a batch used, together: by model, at the price of batches. */
export class RowSum {
  readonly #models = new Map<string, IrUsage>();

  add({ model = '', usage }: Row): void {
    if (usage === undefined) return;
    const before = this.#models.get(model);
    this.#models.set(model, before === undefined ? usage : addUsage(before, usage));
  }

  /** The model that wrote most, and the others beside it. */
  done(): Pick<Observed, 'model' | 'usage'> {
    const size = ({ inputTokens, outputTokens }: IrUsage): number => inputTokens + outputTokens;
    const [main, ...others] = [...this.#models].sort(([, a], [, b]) => size(b) - size(a));
    if (main === undefined) return {};
    const [model, usage] = main;
    const beside = [...(usage.details?.beside ?? []), ...others.flatMap(([name, used]) => sideOf(name, used))];
    return {
      ...(model === '' ? {} : { model }),
      usage: { ...usage, details: { ...usage.details, tier: 'batch', ...(beside.length === 0 ? {} : { beside }) } },
    };
  }
}

function sideOf(model: string, { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, details }: IrUsage): SideUsage[] {
  const { cacheWrite1hTokens, passes, beside = [] } = details ?? {};
  const one = { model, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
  const more = { ...(cacheWrite1hTokens === undefined ? {} : { cacheWrite1hTokens }), ...(passes === undefined ? {} : { passes }) };
  return [{ ...one, ...more }, ...beside.map((side) => ({ ...side, model: side.model ?? model }))];
}

/** Sums the lines of a file of results that are not counted yet. */
export function observeRows(read: ReadRow, { name, from }: { readonly name: string; readonly from: number }): StreamObserver {
  const sum = new RowSum();
  let seen = 0;
  let known = 0;
  return {
    frame: (line) => {
      seen += 1;
      if (seen <= from || (known === 0 && seen > from + SHOWING)) return;
      const value = parseJsonObject(line.toString('utf8'));
      const row = value === undefined ? undefined : read(value);
      if (row === undefined) return;
      known += 1;
      sum.add(row);
    },
    held: 0,
    done: () => {
      const told = sum.done();
      return { toolCalls: [], ...told, ...(told.usage === undefined ? {} : { once: { name, from, to: seen } }) };
    },
  };
}
