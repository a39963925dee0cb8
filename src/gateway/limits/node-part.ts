import type { CallLimits } from '../../calls/limits/call-limits.ts';
import type { LimitUse } from '../../store/budgets/limit-uses.ts';

/** How much of a limit one node uses, as it tells the others: they divide the limit by that. */
export interface NodeUse {
  readonly node: string;
  /** How many calls came lately, let in or not. */
  readonly demand: number;
  /** Calls at the moment. */
  readonly calls: number;
}

export function callsOf({ node, demand, under_way: calls }: LimitUse & { readonly node: string }): NodeUse {
  return { node, demand, calls };
}

/** This much of a limit is divided evenly among the nodes that use it, so that a call on a quiet one finds room. */
const EVEN = 0.1;

export interface Circumstances {
  /** Other nodes that use the limit; undefined where that is not known yet. */
  readonly others: readonly NodeUse[] | undefined;
  readonly live: number;
  /** Who gets a place that cannot be divided; the same number on all nodes at a time. */
  readonly turn: number;
}

/**
 * A node's part of a limit. All parts together are the limit where all nodes know the same. By the minute: by where calls come. At a time: the
 * calls that a node has, and its part of the places that are free.
 */
export function partOf(whole: CallLimits, own: NodeUse, { others, live, turn }: Circumstances): CallLimits {
  const { requests_per_minute: requests, tokens_per_minute: tokens, concurrency } = whole;
  const weight = others === undefined ? 1 / live : weightOf(own, others);
  return {
    ...(requests === undefined ? {} : { requests_per_minute: requests * weight }),
    ...(tokens === undefined ? {} : { tokens_per_minute: tokens * weight }),
    ...(concurrency === undefined ? {} : { concurrency: placesOf(concurrency, own, { others, live, turn }) }),
  };
}

function wantOf({ demand, calls }: NodeUse): number {
  return demand + calls;
}

/** Nodes that want nothing have no part. */
function weightOf(own: NodeUse, others: readonly NodeUse[]): number {
  const wanting = others.filter((one) => wantOf(one) > 0);
  const all = wanting.reduce((sum, one) => sum + wantOf(one), wantOf(own));
  if (wanting.length === 0) return 1;
  return (EVEN + (all === 0 ? 0 : (1 - EVEN) * (wantOf(own) / all) * (wanting.length + 1))) / (wanting.length + 1);
}

function placesOf(concurrency: number, own: NodeUse, { others, live, turn }: Circumstances): number {
  // Before the first word of the others: an even part, and one place at least.
  if (others === undefined) return Math.max(1, own.calls, Math.floor(concurrency / live));
  const wanting = [own, ...others.filter((one) => wantOf(one) > 0)].sort((one, other) => (one.node < other.node ? -1 : 1));
  const free = Math.max(0, concurrency - wanting.reduce((sum, { calls }) => sum + calls, 0));
  const whole = wanting.map((one) =>
    Math.floor(
      free *
        weightOf(
          one,
          wanting.filter((other) => other !== one),
        ),
    ),
  );
  let rest = free - whole.reduce((sum, places) => sum + places, 0);
  const places = [...whole];
  for (let at = 0; rest > 0 && at < wanting.length; at += 1, rest -= 1) {
    const next = (turn + at) % wanting.length;
    places[next] = (places[next] ?? 0) + 1;
  }
  return own.calls + (places[wanting.indexOf(own)] ?? 0);
}
