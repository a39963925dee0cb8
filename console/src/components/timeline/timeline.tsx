import type { JSX } from 'react';
import { duration } from '../../base/format.ts';
import './timeline.css';

interface Bar {
  readonly from: number;
  readonly to: number;
  readonly kind: 'own' | 'silent' | 'model' | 'tool' | 'wait';
  readonly title?: string;
}

export interface Lane {
  readonly name: string;
  readonly bars: readonly Bar[];
  /** Moments, such as the arrival of each piece. */
  readonly ticks?: readonly number[];
  readonly sum: string;
  readonly note?: string;
}

const MARKS = [0, 0.25, 0.5, 0.75];

/** Lanes on one scale, in milliseconds. Waiting is hatched, because it is not work. */
export function Timeline({
  lanes,
  total,
  foot,
}: {
  readonly lanes: readonly Lane[];
  readonly total: number;
  readonly foot: string;
}): JSX.Element {
  const at = (ms: number): string => `${total === 0 ? 0 : Math.min(100, (ms / total) * 100)}%`;
  const width = (bar: Bar): string => `max(2px, ${total === 0 ? 0 : ((bar.to - bar.from) / total) * 100}%)`;
  return (
    <div className="timeline">
      {lanes.map(({ name, bars, ticks = [], sum, note }) => (
        <div key={name} className="lane">
          <span className="lb">{name}</span>
          <div className="tr" role="img" aria-label={`${name}: ${sum}${note === undefined ? '' : `, ${note}`}`}>
            {bars.map((bar) => (
              <b key={`${bar.from}-${bar.kind}`} className={bar.kind} style={{ left: at(bar.from), width: width(bar) }} title={bar.title} />
            ))}
            {ticks.map((tick, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
              <i key={index} style={{ left: at(tick) }} />
            ))}
            {note === undefined ? null : <small>{note}</small>}
          </div>
          <span className="v m">{sum}</span>
        </div>
      ))}
      <div className="lane">
        <span />
        <div className="ax" aria-hidden="true">
          {MARKS.map((share) => (
            <span key={share} style={{ left: `${share * 100}%` }}>
              {share === 0 ? '0' : duration(total * share)}
            </span>
          ))}
        </div>
        <span className="v xs mute">{foot}</span>
      </div>
    </div>
  );
}
