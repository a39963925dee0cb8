import { type JSX, useState } from 'react';
import type { RecordingLine } from '../../api/types.ts';
import { duration } from '../../base/format.ts';
import { Empty } from '../../components/bits/bits.tsx';
import { eventsOf } from './answer-events.ts';

/** So many rows are drawn before somebody asks for all of them. */
const MOST_ROWS = 300;

/** What the caller got, event by event, each at the time at which it was whole. */
export function Events({ answer }: { readonly answer: RecordingLine['response'] }): JSX.Element {
  const [all, setAll] = useState(false);
  const events = eventsOf(answer);
  if (events.length === 0) return <Empty title="No event came" />;
  const shown = all ? events : events.slice(0, MOST_ROWS);
  return (
    <div className="events scroll">
      <table aria-label="Events">
        <thead>
          <tr>
            <th className="r">#</th>
            <th className="r">At</th>
            <th>Event</th>
            <th>Data</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ atMs, name, data }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an event is its place
            <tr key={index} className="m">
              <td className="r mute">{index + 1}</td>
              <td className="r mute nw">{duration(atMs)}</td>
              <td className="nw">{name}</td>
              <td className="data">{data}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length === events.length ? null : (
        <button type="button" className="link" onClick={() => setAll(true)}>
          show all {events.length} events
        </button>
      )}
    </div>
  );
}
