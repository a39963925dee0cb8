import type { Specimen } from '../../base/specimen.ts';
import { Legend, TimeBar } from './time-bar.tsx';

const TIMES = { own: 6.7, silent: 604, answer: 1790, total: 2410, events: 42 };
const TICKS = Array.from({ length: 42 }, (_, at) => 611 + at * 42);

export const states: readonly Specimen[] = [
  {
    name: 'with the pieces',
    shows: (
      <>
        <TimeBar times={TIMES} ticks={TICKS} />
        <Legend times={TIMES} ticks={TICKS} />
      </>
    ),
  },
  {
    name: 'without a recording',
    shows: (
      <>
        <TimeBar times={TIMES} />
        <Legend times={TIMES} />
      </>
    ),
  },
  { name: 'nothing took time', shows: <TimeBar times={{ own: 0, silent: 0, answer: 0, total: 0, events: 1 }} /> },
];
