import type { JSX } from 'react';
import type { Receipt } from '../../api/types.ts';
import { duration, many } from '../../base/format.ts';
import './time-bar.css';

/** Where the time of a call went. Three parts that follow each other, so that nothing counts twice. */
export interface Times {
  readonly own: number;
  readonly silent: number;
  readonly answer: number;
  readonly total: number;
  readonly events: number;
}

export function timesOf({ timing, event_count }: Receipt): Times | undefined {
  if (timing?.last_byte_ms === null || timing?.last_byte_ms === undefined) return undefined;
  const own = timing.dispatched_ms ?? 0;
  const first = timing.first_byte_ms ?? timing.last_byte_ms;
  return { own, silent: Math.max(0, first - own), answer: timing.last_byte_ms - first, total: timing.last_byte_ms, events: event_count };
}

const share = (value: number, total: number): string => `${total === 0 ? 0 : (value / total) * 100}%`;

/** `ticks` are the moments at which pieces arrived, where they are kept. */
export function TimeBar({ times, ticks = [] }: { readonly times: Times; readonly ticks?: readonly number[] }): JSX.Element {
  const { own, silent, answer, total } = times;
  return (
    <div
      className="time-bar"
      role="img"
      aria-label={`checked and translated ${duration(own)}, engine silent ${duration(silent)}, answer arrives for ${duration(answer)}`}
    >
      <i className="own" style={{ left: 0, width: share(own, total) }} />
      <i className="silent" style={{ left: share(own, total), width: share(silent, total) }} />
      {ticks.length > 0 ? null : <i className="answer" style={{ left: share(own + silent, total), width: share(answer, total) }} />}
      {ticks.map((tick, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
        <u key={index} style={{ left: share(Math.min(tick, total), total) }} />
      ))}
    </div>
  );
}

/** Pieces are counted where they were kept; of other answers it is known how many events the caller got. */
export function Legend({ times, ticks = [] }: { readonly times: Times; readonly ticks?: readonly number[] }): JSX.Element {
  return (
    <div className="time-legend">
      <span>
        <b className="own" /> checked and translated {duration(times.own)}
      </span>
      <span>
        <b className="silent" /> engine silent {duration(times.silent)}
      </span>
      <span>
        <b className="answer" /> {ticks.length > 0 ? many(ticks.length, 'piece') : many(times.events, 'event')} in {duration(times.answer)}
      </span>
    </div>
  );
}
