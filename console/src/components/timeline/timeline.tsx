import type { JSX } from 'react';
import { timeMarks } from '../../base/format.ts';
import './timeline.css';

export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly kind: 'own' | 'silent' | 'failed' | 'model' | 'tool' | 'wait';
  readonly title?: string;
  /** What it leads to, where it leads anywhere. */
  readonly id?: string;
}

export interface Lane {
  readonly name: string;
  readonly bars: readonly Bar[];
  /** Moments, such as the arrival of each piece. */
  readonly ticks?: readonly number[];
  readonly sum: string;
  readonly note?: string;
}

interface TimelineProps {
  readonly lanes: readonly Lane[];
  readonly total: number;
  readonly foot: string;
  /** The thing that is looked at; its bars are marked. */
  readonly hot?: string | null;
  readonly live?: boolean;
  onHot?(id: string | null): void;
  onOpen?(id: string): void;
}

/** Lanes on one scale, in milliseconds. Waiting is hatched, because it is not work. */
export function Timeline(props: TimelineProps): JSX.Element {
  const { lanes, total, foot } = props;
  const at = (ms: number): string => `${total === 0 ? 0 : Math.min(100, (ms / total) * 100)}%`;
  return (
    <div className={props.live === true ? 'timeline is-live' : 'timeline'}>
      {lanes.map(({ name, bars, ticks = [], sum, note }) => (
        <div key={name} className="lane">
          <span className="lb">{name}</span>
          <div className="tr" role="img" aria-label={`${name}: ${sum}${note === undefined ? '' : `, ${note}`}`}>
            {bars.map((bar) => (
              <BarView key={`${bar.from}-${bar.kind}`} bar={bar} at={at} total={total} props={props} />
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
          {timeMarks(total).map((mark) => (
            <span key={mark.at} style={{ left: at(mark.at) }}>
              {mark.words}
            </span>
          ))}
        </div>
        <span className="v xs mute">{foot}</span>
      </div>
    </div>
  );
}

/** A bar is a picture for the mouse alone: the same step stands in the list beside it, where keys and screen readers find it. */
function BarView({
  bar,
  at,
  total,
  props,
}: {
  readonly bar: Bar;
  at(ms: number): string;
  readonly total: number;
  readonly props: TimelineProps;
}): JSX.Element {
  const { id } = bar;
  const width = `max(2px, ${total === 0 ? 0 : ((bar.to - bar.from) / total) * 100}%)`;
  const classes = `${bar.kind}${id !== undefined && id === props.hot ? ' hot' : ''}`;
  const style = { left: at(bar.from), width };
  if (id === undefined) return <b className={classes} style={style} title={bar.title} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: see above
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <b
      className={`${classes} leads`}
      style={style}
      title={bar.title}
      onMouseEnter={() => props.onHot?.(id)}
      onMouseLeave={() => props.onHot?.(null)}
      onClick={() => props.onOpen?.(id)}
    />
  );
}
