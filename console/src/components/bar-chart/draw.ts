import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { day, hourMinute } from '../../base/format.ts';
import type { BarChartProps } from './bar-chart.tsx';

interface Look {
  readonly colors: readonly string[];
  readonly ink: string;
  readonly line: string;
  readonly ground: string;
  onCursor(index: number | null): void;
}

const HEIGHT = 260;

/** Values added up, so that each series is drawn over the sum of those below it. */
function stacked(series: BarChartProps['series'], many: number): number[][] {
  const sums = Array<number>(many).fill(0);
  return series.map(({ values }) =>
    sums.map((sum, index) => {
      const next = sum + (values[index] ?? 0);
      sums[index] = next;
      return next;
    }),
  );
}

/** Days where the chart is of days, else the time of the day. */
function timeWords(time: number, span: number): string {
  return span > 3 * 24 * 3_600_000 ? day(time) : hourMinute(time);
}

/** A mark of the scale; two that would read the same are told once. */
function scaleWords(value: number, before: number | undefined, format: (value: number) => string): string {
  const words = format(value);
  return before !== undefined && format(before) === words ? '' : words;
}

/** How long a bucket is, in seconds; months are as long as the one before. */
function widthOf(times: readonly number[]): number {
  const [before, last] = times.slice(-2);
  return before === undefined || last === undefined ? 3600 : last - before;
}

/** Draws the chart; the function takes it away. */
export function draw(host: HTMLElement, props: BarChartProps & Look): () => void {
  const times = props.buckets.map((bucket) => Date.parse(bucket) / 1000);
  const layers = stacked(props.series, times.length);
  const bars = uPlot.paths.bars?.({ size: [0.82, 60], align: 1 });
  const axis = {
    stroke: props.ink,
    grid: { stroke: props.line, width: 1 },
    ticks: { show: false },
    font: `11px ${getComputedStyle(document.documentElement).getPropertyValue('--sans')}`,
  };
  const span = ((times.at(-1) ?? 0) - (times[0] ?? 0)) * 1000;
  const chart = new uPlot(
    {
      width: host.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      // A bar stands on the right of its time: without a place for the last one it would be drawn beyond the edge.
      scales: {
        x: { time: true, range: () => [times[0] ?? 0, (times.at(-1) ?? 0) + widthOf(times)] },
        y: { range: (_chart, _least, most) => [0, most === 0 ? 1 : most * 1.08] },
      },
      axes: [
        { ...axis, grid: { show: false }, space: 90, values: (_chart, values) => values.map((value) => timeWords(value * 1000, span)) },
        { ...axis, size: 64, values: (_chart, values) => values.map((value, index) => scaleWords(value, values[index - 1], props.format)) },
      ],
      // The tallest sum is drawn first, and those below it over it.
      series: [
        {},
        ...layers
          .map((_, index) => layers.length - 1 - index)
          .map((index) => ({
            fill: props.colors[index % props.colors.length] ?? props.ink,
            // A line of the ground between one series and the next.
            stroke: props.ground,
            width: 1,
            ...(bars === undefined ? {} : { paths: bars }),
            points: { show: false },
          })),
      ],
      hooks: { setCursor: [(plot) => props.onCursor(plot.cursor.idx ?? null)] },
    },
    [times, ...layers.toReversed()],
    host,
  );
  return () => chart.destroy();
}
