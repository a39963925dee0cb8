import { FATES } from '../../base/fates.ts';
import type { Specimen } from '../../base/specimen.ts';
import { FateCounts, FateGlyph, FateStrip } from './fate.tsx';

export const states: readonly Specimen[] = [
  {
    name: 'signs with their words',
    shows: (
      <p className="row">
        {FATES.map((fate) => (
          <FateGlyph key={fate} fate={fate} word />
        ))}
      </p>
    ),
  },
  {
    name: 'strips: all fates, one alone, a loss among many',
    shows: (
      <p className="row">
        <FateStrip fates={[4, 12, 3, 2, 1]} /> <FateStrip fates={[9, 0, 0, 0, 0]} /> <FateStrip fates={[900, 0, 0, 1, 0]} />
      </p>
    ),
  },
  {
    name: 'counts of what is news',
    shows: (
      <p className="row">
        <FateCounts fates={[4, 12, 3, 2, 1]} />
      </p>
    ),
  },
  {
    name: 'counts of all',
    shows: (
      <p className="row">
        <FateCounts all fates={[4, 12, 3, 2, 1]} />
      </p>
    ),
  },
];
