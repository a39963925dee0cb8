import type { Specimen } from '../../base/specimen.ts';
import { Timeline } from './timeline.tsx';

const CALL = [
  { name: 'Backplane', bars: [{ from: 0, to: 7, kind: 'own' as const }], sum: '6.7 ms' },
  { name: 'Engine silent', bars: [{ from: 7, to: 611, kind: 'silent' as const }], sum: '604 ms' },
  { name: 'Answer arrives', bars: [], ticks: Array.from({ length: 42 }, (_, at) => 611 + at * 42), sum: '1.79 s' },
];
const CODING = [
  {
    name: 'Model',
    bars: [0, 20, 45].map((from) => ({ from: from * 1000, to: (from + 14) * 1000, kind: 'model' as const, id: `m${from}` })),
    sum: '42 s',
  },
  { name: 'Tools', bars: [{ from: 15_000, to: 19_000, kind: 'tool' as const, id: 't' }], sum: '4 s' },
  { name: 'You', bars: [{ from: 60_000, to: 132_000, kind: 'wait' as const }], sum: '1:12' },
];

export const states: readonly Specimen[] = [
  { name: 'a call', shows: <Timeline lanes={CALL} total={2410} foot="42 pieces" /> },
  {
    name: 'a coding agent that waits, live, one step looked at',
    shows: <Timeline lanes={CODING} total={132_000} foot="of 2:12" live hot="m20" />,
  },
  {
    name: 'a try that failed, without ticks',
    shows: (
      <Timeline
        lanes={[
          {
            name: 'Engine silent',
            bars: [{ from: 0, to: 900, kind: 'failed' }],
            sum: '900 ms',
            note: 'only the first and last byte are known',
          },
        ]}
        total={900}
        foot="no answer"
      />
    ),
  },
  { name: 'nothing', shows: <Timeline lanes={[]} total={0} foot="" /> },
];
