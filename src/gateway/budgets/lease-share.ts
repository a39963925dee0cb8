import { type Amounts, type Budget, MEASURES, nothing } from '../../calls/budgets/budget.ts';

/** A node’s situation when it asks for its part of a budget. */
export interface ShareAsk {
  readonly limits: Budget['limits'];
  /** Spent and reserved by the node itself. */
  readonly used: Readonly<Amounts>;
  /** Amounts that calls asked for in vain, for which this node wants more. */
  readonly wanted: Readonly<Amounts>;
  /** Granted to all other nodes together. */
  readonly others: Readonly<Amounts>;
  /** Nodes that live. */
  readonly live: number;
}

/** The part of a node: what it uses, and of the rest as much as each node that lives gets, or as it wants at the moment. */
export function fairPart({ limits, used, wanted, others, live }: ShareAsk): Amounts {
  const part = nothing();
  for (const measure of MEASURES) {
    const limit = limits[measure];
    const free = limit === undefined ? 0 : Math.max(0, limit - others[measure] - used[measure]);
    part[measure] = used[measure] + Math.min(free, Math.max(wanted[measure], Math.ceil(free / Math.max(1, live))));
  }
  return part;
}

/** Of two parts the larger of each measure. */
export function largerPart(one: Readonly<Amounts>, other: Readonly<Amounts>): Amounts {
  const part = nothing();
  for (const measure of MEASURES) part[measure] = Math.max(one[measure], other[measure]);
  return part;
}

/** Whether a node holds so much more than its part that others should have some of it. */
export function isTooMuch(granted: Readonly<Amounts>, part: Readonly<Amounts>, limits: Budget['limits']): boolean {
  return MEASURES.some(
    (measure) => limits[measure] !== undefined && granted[measure] > part[measure] + Math.max(1, (limits[measure] ?? 0) / 16),
  );
}
