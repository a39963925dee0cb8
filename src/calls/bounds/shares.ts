import { FairShare } from '../../base/bounded/fair-share.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Check, Verdict } from '../admission.ts';
import { type Call, shareOfOwner } from '../call.ts';

export interface ShareLimits {
  /** Calls to one engine at the same time. */
  readonly calls: (engine: string) => number;
  /** Runs of coding agents at the same time. */
  readonly runs: number;
}

/** Keeps one caller from having all connections to an engine, or all runs: there is always one left for somebody else. */
export function shares({ calls, runs }: ShareLimits): Check {
  const byEngine = new Map<string, FairShare>();
  const ofRuns = new FairShare(runs);
  const shareOf = ({ way, engine }: Call): FairShare => {
    if (way === 'run') return ofRuns;
    const id = engine ?? '';
    const known = byEngine.get(id) ?? new FairShare(calls(id));
    byEngine.set(id, known);
    return known;
  };
  return {
    name: 'shares',
    check: (call): Verdict => {
      const share = shareOf(call);
      const caller = shareOfOwner(call.owner);
      const refusal = share.refusal(caller);
      if (refusal !== undefined) return tooMany(call, share.limit, refusal);
      share.take(caller);
      return () => share.release(caller);
    },
  };
}

function tooMany({ way, engine }: Call, limit: number, refusal: 'full' | 'share'): AbpError {
  const what = way === 'run' ? `${limit} runs of coding agents` : `${limit} calls to ${engine}`;
  const why = refusal === 'full' ? 'are under way, which is all there may be' : 'may be under way, and this caller has its share of them';
  return new AbpError('overloaded', `At most ${what} ${why}.`, { limit });
}
