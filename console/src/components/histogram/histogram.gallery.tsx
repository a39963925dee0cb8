import type { Usage } from '../../api/types.ts';
import type { Specimen } from '../../base/specimen.ts';
import { Histogram } from './histogram.tsx';

const buckets = Array.from({ length: 60 }, (_, at) => new Date(Date.now() - (60 - at) * 60_000).toISOString());
const usage = (runs: number[], failed: number[]): Usage => ({ buckets, groups: [{ key: {}, runs, failed }], from_rollup_until: null });
const WAYS = { narrow: () => undefined, jump: () => undefined };

export const states: readonly Specimen[] = [
  {
    name: 'an hour with failures',
    shows: (
      <Histogram
        {...WAYS}
        usage={usage(
          buckets.map((_, at) => 4 + ((at * 7) % 13)),
          buckets.map((_, at) => (at > 40 && at < 46 ? 5 : 0)),
        )}
      />
    ),
  },
  {
    name: 'an hour without calls',
    shows: (
      <Histogram
        {...WAYS}
        usage={usage(
          buckets.map(() => 0),
          buckets.map(() => 0),
        )}
      />
    ),
  },
];
