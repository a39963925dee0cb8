import { type JSX, useEffect, useRef, useState } from 'react';
import { whole } from '../../base/format.ts';
import { token } from '../../base/theme.ts';
import './bar-chart.css';

interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

export interface BarChartProps {
  readonly label: string;
  readonly buckets: readonly string[];
  readonly series: readonly Series[];
  format(value: number): string;
  formatTime(time: string): string;
  /** What the bucket to the left is called: `day before`. */
  readonly before: string;
  /** How many runs a bucket is made of. */
  runsOf(index: number): number;
  onOpen(index: number): void;
}

/** Stacked bars of uPlot, which is loaded when it is first needed. The same figures stand behind “as a table”. */
export function BarChart(props: BarChartProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const current = useRef(props);
  current.current = props;
  const [at, setAt] = useState<number | null>(null);
  const [theme, setTheme] = useState(0);
  useEffect(() => {
    const again = (): void => setTheme((before) => before + 1);
    window.addEventListener('abp:theme', again);
    window.addEventListener('resize', again);
    return () => {
      window.removeEventListener('abp:theme', again);
      window.removeEventListener('resize', again);
    };
  }, []);
  const { buckets, series } = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme draws again
  useEffect(() => {
    const element = host.current;
    if (element === null || buckets.length === 0) return undefined;
    let destroy: (() => void) | undefined;
    let gone = false;
    void import('./draw.ts').then(({ draw }) => {
      if (gone) return;
      destroy = draw(element, {
        ...current.current,
        colors: COLORS.map(token),
        ink: token('mute'),
        line: token('hair'),
        ground: token('panel'),
        onCursor: setAt,
      });
    });
    return () => {
      gone = true;
      destroy?.();
    };
  }, [buckets, series, theme]);
  const runs = at === null ? 0 : props.runsOf(at);
  const sum = at === null ? 0 : series.reduce((total, { values }) => total + (values[at] ?? 0), 0);
  return (
    <div className="bar-chart">
      <div ref={host} role="img" aria-label={props.label} />
      {at === null || buckets[at] === undefined ? null : (
        <div className="tip" style={placeOf(at, buckets.length)}>
          <b>
            {props.formatTime(buckets[at])}, {props.format(sum)}
          </b>
          {series.map(({ name, values }) =>
            (values[at] ?? 0) === 0 ? null : (
              <span key={name}>
                {`${name} ${props.format(values[at] ?? 0)}`}
                {at > 0 ? <span className="mute">{`, ${props.before} ${props.format(values[at - 1] ?? 0)}`}</span> : null}
              </span>
            ),
          )}
          <button type="button" className="link" onClick={() => props.onOpen(at)}>
            {runs === 1 ? 'open the one run' : `open the ${whole(runs)} runs`}
          </button>
        </div>
      )}
      <details>
        <summary>as a table</summary>
        <table aria-label="The chart as a table">
          <thead>
            <tr>
              <th>Time</th>
              {series.map(({ name }) => (
                <th key={name} className="r">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {buckets.map((bucket, index) => (
              <tr key={bucket}>
                <td>{props.formatTime(bucket)}</td>
                {series.map(({ name, values }) => (
                  <td key={name} className="r m">
                    {props.format(values[index] ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  );
}

/** Beside the bar that is looked at: the chart leaves room for the axis on its left. */
function placeOf(at: number, many: number): React.CSSProperties {
  const share = (at + 0.5) / many;
  return at > many / 2 ? { right: `calc((100% - 64px) * ${1 - share} + 24px)` } : { left: `calc(64px + (100% - 64px) * ${share} + 24px)` };
}

export const COLORS = ['c1', 'c2', 'c3', 'c4', 'c5', 'texact', 'trenamed', 'bar'] as const;
