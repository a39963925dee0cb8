import { type JSX, type PointerEvent, useState } from 'react';
import type { Usage } from '../../api/types.ts';
import { day, hourMinute, time, whole } from '../../base/format.ts';
import './histogram.css';

interface HistogramProps {
  readonly usage: Usage;
  narrow(since: string, until: string): void;
  /** Goes to the newest run before a time. */
  jump(before: string): void;
}

/** Runs by time as bars, failed ones in vermilion. Dragging narrows the time, a click jumps to it. */
export function Histogram({ usage, narrow, jump }: HistogramProps): JSX.Element {
  const [drag, setDrag] = useState<readonly [number, number] | null>(null);
  const runs = sum(usage, 'runs');
  const failed = sum(usage, 'failed');
  const most = Math.max(1, ...runs);
  const { buckets } = usage;
  const at = (event: PointerEvent<HTMLDivElement>): number => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(buckets.length - 1, Math.floor(((event.clientX - box.left) / box.width) * buckets.length)));
  };
  const end = (): void => {
    if (drag === null) return;
    const [from, to] = [Math.min(...drag), Math.max(...drag)];
    setDrag(null);
    const since = buckets[from];
    const until = buckets[to + 1] ?? new Date().toISOString();
    if (from === to) jump(until);
    else if (since !== undefined) narrow(since, until);
  };
  const long = Date.now() - Date.parse(buckets[0] ?? '') > 36 * 3_600_000;
  const label = (bucket: string): string => (bucket === '' ? '' : long ? day(bucket) : hourMinute(bucket));
  const total = runs.reduce((a, b) => a + b, 0);
  return (
    <div className="histogram">
      <div
        className="bars"
        role="img"
        aria-label={`${whole(total)} calls, ${whole(failed.reduce((a, b) => a + b, 0))} failed; drag to narrow the time, click to jump`}
        onPointerDown={(event) => setDrag([at(event), at(event)])}
        onPointerMove={(event) => {
          // Read at once: the event has no place any more when the state is changed.
          const to = at(event);
          setDrag((before) => (before === null ? null : [before[0], to]));
        }}
        onPointerUp={end}
        onPointerLeave={() => setDrag(null)}
      >
        {runs.map((many, index) => (
          <i
            key={buckets[index]}
            className={drag !== null && index >= Math.min(...drag) && index <= Math.max(...drag) ? 'in' : ''}
            title={`${time(buckets[index] ?? 0)}: ${whole(many)} calls, ${whole(failed[index] ?? 0)} failed`}
          >
            <b style={{ height: `${(many / most) * 100}%` }} />
            <u style={{ height: `${((failed[index] ?? 0) / most) * 100}%` }} />
          </i>
        ))}
      </div>
      <div className="lab">
        {[0, 0.25, 0.5, 0.75].map((share) => (
          <span key={share}>{label(buckets[Math.floor(share * (buckets.length - 1))] ?? '')}</span>
        ))}
        <span>now</span>
      </div>
    </div>
  );
}

function sum({ buckets, groups }: Usage, name: 'runs' | 'failed'): number[] {
  return buckets.map((_, index) => groups.reduce((total, group) => total + (group[name]?.[index] ?? 0), 0));
}
