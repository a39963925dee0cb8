import type { CapabilityManifest } from '../../contract/support.ts';
import { type Requirements, unmet } from '../../negotiation/negotiate.ts';

/** A backend that could execute an order. */
export interface Candidate {
  readonly id: string;
  readonly manifest: CapabilityManifest;
  /** Why it cannot be used now; absent: it can. */
  readonly obstacle?: string;
  /** Dollars for a million tokens read and written by its model; undefined where nobody knows. */
  readonly usdPerMillion?: number;
  /** It answers by rules and not by a model: taken only where nothing else will do. */
  readonly simulated?: boolean;
}

/** A candidate with what speaks for it. */
export interface Ranked {
  readonly candidate: Candidate;
  /** Share of the requirements that it meets. */
  readonly coverage: number;
  /** Share of the requirements that are native, an emulated one counting half. */
  readonly fidelity: number;
  readonly words: string;
}

/**
 * Orders candidates: those that meet every requirement first, then those that can be used now, then real models before simulated ones, then by
 * fidelity, then by cost, a known one before an unknown one; the order in which they are listed decides the rest.
 */
export function rankBackends(candidates: readonly Candidate[], requirements: Requirements): readonly Ranked[] {
  const ranked = candidates.map((candidate) => rankOf(candidate, requirements));
  return ranked.toSorted(
    (one, other) =>
      other.coverage - one.coverage ||
      usable(one) - usable(other) ||
      Number(one.candidate.simulated ?? false) - Number(other.candidate.simulated ?? false) ||
      other.fidelity - one.fidelity ||
      (one.candidate.usdPerMillion ?? Number.POSITIVE_INFINITY) - (other.candidate.usdPerMillion ?? Number.POSITIVE_INFINITY) ||
      0,
  );
}

function usable({ candidate }: Ranked): number {
  return candidate.obstacle === undefined ? 0 : 1;
}

function rankOf(candidate: Candidate, requirements: Requirements): Ranked {
  const { required } = requirements;
  const missing = unmet(candidate.manifest, requirements);
  const coverage = required.length === 0 ? 1 : 1 - missing.length / required.length;
  const points = required.map(({ capability }) => {
    const level = candidate.manifest[capability];
    if (level === 'native') return 1;
    return level === undefined || level === 'unsupported' ? 0 : 0.5;
  });
  const fidelity = required.length === 0 ? 1 : points.reduce((sum: number, point) => sum + point, 0) / required.length;
  const cost = candidate.usdPerMillion === undefined ? 'cost unknown' : `$${candidate.usdPerMillion.toFixed(2)} a million tokens`;
  const lacks = missing.length === 0 ? '' : `, lacks ${missing.map(({ capability }) => capability).join(', ')}`;
  const words = [
    `meets ${required.length - missing.length} of ${required.length}${lacks}`,
    `fidelity ${fidelity.toFixed(2)}`,
    cost,
    candidate.obstacle ?? (candidate.simulated === true ? 'simulated' : 'ready'),
  ].join('; ');
  return { candidate, coverage, fidelity, words };
}
