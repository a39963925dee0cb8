import type { NodeBeat } from '../../store/nodes.ts';

/** How nodes that share a database look after each other. */
export interface NodeTiming {
  /** How often a node says that it lives and looks for the others. */
  readonly beatMs: number;
  /** A node that was silent for so long is lost. */
  readonly lostMs: number;
}

export const NODE_TIMING: NodeTiming = { beatMs: 10_000, lostMs: 120_000 };

/**
 * Tells which nodes are lost. Only silence that was watched counts: after a gap in the looking (the database was away, this machine
 * slept) everybody has the whole time again, because the others may have been kept from speaking by the same cause.
 */
export class NodeWatch {
  readonly #lostMs: number;
  readonly #heard = new Map<string, { readonly beat: number | null; readonly since: number }>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(lostMs: number) {
    this.#lostMs = lostMs;
  }

  /** Takes note of the heartbeats; returns the nodes that are lost. */
  look(beats: readonly NodeBeat[], now: number): readonly string[] {
    const pause = now - this.#lookedAt;
    if (pause < 0 || pause > this.#lostMs / 2) this.#heard.clear();
    this.#lookedAt = now;
    return beats.filter((one) => this.#isSilent(one, now)).map(({ node }) => node);
  }

  #isSilent({ node, beat }: NodeBeat, now: number): boolean {
    const heard = this.#heard.get(node);
    if (heard?.beat === beat) return now - heard.since >= this.#lostMs;
    this.#heard.set(node, { beat, since: now });
    return false;
  }
}
