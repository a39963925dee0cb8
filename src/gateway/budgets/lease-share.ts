import { type Amounts, type Budget, MEASURES, nothing } from '../../calls/budgets/budget.ts';

/** A node’s situation when it asks for its part of a budget. */
export interface ShareAsk {
  readonly limits: Budget['limits'];
  /** Spent by the node itself. */
  readonly settled: Readonly<Amounts>;
  /** Spent and reserved by it. */
  readonly used: Readonly<Amounts>;
  /** Amounts that calls asked for in vain, for which this node wants more. */
  readonly wanted: Readonly<Amounts>;
  /** Granted to all other nodes together. */
  readonly others: Readonly<Amounts>;
  /** Nodes that live. */
  readonly live: number;
}

/**
 * The part of a node: what it uses, and of the rest as much as each node that lives gets, or as it wants at the moment; never less than it has.
 * What its last call has reserved beyond the budget is no part of it: as a rule a call uses less, and there would be room for another last one,
 * again and again.
 */
export function partOf(ask: ShareAsk, has: Readonly<Amounts> = nothing()): Amounts {
  const { limits, settled, used, wanted, others, live } = ask;
  const part = nothing();
  for (const measure of MEASURES) {
    const limit = limits[measure];
    if (limit === undefined) {
      part[measure] = Math.max(used[measure], has[measure]);
      continue;
    }
    const most = limit - others[measure];
    const free = Math.max(0, most - used[measure]);
    const fair = used[measure] + Math.min(free, Math.max(wanted[measure], Math.ceil(free / Math.max(1, live))));
    part[measure] = Math.max(settled[measure], Math.min(most, Math.max(fair, has[measure])));
  }
  return part;
}

/** Whether a node holds so much more than its part that others should have some of it. */
export function isTooMuch(granted: Readonly<Amounts>, part: Readonly<Amounts>, limits: Budget['limits']): boolean {
  return MEASURES.some(
    (measure) => limits[measure] !== undefined && granted[measure] > part[measure] + Math.max(1, (limits[measure] ?? 0) / 16),
  );
}
