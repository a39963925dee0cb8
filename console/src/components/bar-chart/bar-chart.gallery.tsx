import type { Specimen } from '../../base/specimen.ts';
import { BarChart } from './bar-chart.tsx';

const DAYS = Array.from({ length: 30 }, (_, day) => new Date(Date.UTC(2026, 9, 17 + day)).toISOString());
const values = (scale: number): number[] => DAYS.map((_, day) => scale * (4 + ((day * 7) % 11)));
const WORDS = {
  format: (value: number) => `$${value.toFixed(2)}`,
  formatTime: (time: string) => time.slice(5, 10),
  before: 'day before',
  runsOf: () => 214,
  onOpen: () => undefined,
};

export const states: readonly Specimen[] = [
  {
    name: 'three series',
    shows: (
      <BarChart
        {...WORDS}
        label="cost by engine"
        buckets={DAYS}
        series={['claude', 'openai', 'gemini'].map((name, at) => ({ name, values: values(3 - at) }))}
      />
    ),
  },
  {
    name: 'eight series, one bucket',
    shows: (
      <BarChart
        {...WORDS}
        label="cost by key"
        buckets={DAYS.slice(0, 1)}
        series={Array.from({ length: 8 }, (_, at) => ({ name: `key-${at}`, values: [at + 1] }))}
      />
    ),
  },
];
