import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { type Interaction, interactionsQuery } from '../../api/interactions.ts';
import { useRefresh } from '../../api/refresh.ts';
import { useStream } from '../../api/streams.ts';
import type { RunRow, Usage } from '../../api/types.ts';
import { cost, count, duration, hourMinute, many, percent, sumCost, time, waiting } from '../../base/format.ts';
import { wishOf } from '../../components/approval/wish.tsx';
import { ErrorBand, Figure, StatusGlyph, useNow } from '../../components/bits/bits.tsx';
import { FateStrip } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { RunTitle } from '../../components/run-line/run-line.tsx';
import { BudgetPanel, Chain } from './chain.tsx';
import { enginesUsageQuery, hourQuery, hourSumQuery, newestQuery, seenQuery, total } from './data.ts';
import { EmptyHome } from './empty.tsx';
import { EnginePanel, Point, TryNext } from './panels.tsx';
import './page.css';
import './home.css';

/** What is added up over runs is asked for again soon after one has ended, but less often than the list of them. */
const SUMS = [hourQuery, hourSumQuery, enginesUsageQuery, seenQuery].map(({ queryKey }) => queryKey);
const SUMS_MS = 3000;

/** Is all well, does somebody wait for me, what do I try next? */
export function Page(): JSX.Element {
  const newest = useQuery(newestQuery);
  const refresh = useRefresh([newestQuery.queryKey]);
  const addUp = useRefresh(SUMS, SUMS_MS);
  const ended = (): void => {
    refresh();
    addUp();
  };
  const stream = useStream('/v1/runs/stream', { 'run.started': refresh, 'run.ended': ended }, 'after');
  if (newest.data === undefined) return <Waiting error={newest.error} retry={() => void newest.refetch()} />;
  if (newest.data.items.length === 0) return <EmptyHome />;
  return (
    <div className="p-home fill">
      <h1 className="sr">Home</h1>
      <ErrorBand error={newest.error} retry={() => void newest.refetch()} />
      <div className="wrap">
        <div className="cl">
          <LastHour live={stream.live} last={newest.data.items[0]} />
          <Newest rows={newest.data.items} />
        </div>
        <div className="cl">
          <Waits />
          <EnginePanel />
        </div>
        <div className="cl">
          <Point />
          <Chain />
          <BudgetPanel />
          <TryNext rows={newest.data.items} />
        </div>
      </div>
    </div>
  );
}

/** A first visit shows the panels of the final shape; nothing moves when data comes. */
function Waiting({ error, retry }: { readonly error: unknown; retry(): void }): JSX.Element {
  return (
    <div className="p-home fill">
      <h1 className="sr">Home</h1>
      <ErrorBand error={error} retry={retry} />
      <div className="wrap" aria-hidden="true">
        {[0, 1, 2].map((column) => (
          <div key={column} className="cl">
            <div className="panel wait" />
          </div>
        ))}
      </div>
    </div>
  );
}

function LastHour({ live, last }: { readonly live: boolean; readonly last: RunRow | undefined }): JSX.Element {
  const hour = useQuery(hourQuery);
  const sum = useQuery(hourSumQuery);
  const [group] = sum.data?.groups ?? [];
  const runs = group?.runs?.[0] ?? 0;
  const failed = group?.failed?.[0] ?? 0;
  const median = group?.first_byte_ms?.p50[0] ?? null;
  const perMinute = hour.data === undefined ? 0 : Math.max(...total(hour.data, 'runs').slice(-2));
  return (
    <section className="panel o2" aria-label="Last hour">
      <div className="ph">
        <h2 className="grow">Last hour</h2>
        <span className={live ? 'live s' : 'mute s'}>
          <i className={live ? 'dot live' : 'dot off'} /> {live ? `${many(perMinute, 'call')}/min` : 'not live'}
        </span>
      </div>
      {runs === 0 ? (
        <p className="pad mute">No calls in the last hour{last === undefined ? '' : `, the last one was ${time(last.started_at)}`}.</p>
      ) : (
        <>
          <div className="big">
            <Figure value={count(runs)} name={runs === 1 ? 'call' : 'calls'} />
            <Figure value={percent((runs - failed) / runs)} name="completed" />
            <Figure value={median === null ? '–' : duration(median)} name="first byte, median" />
            <Figure value={sumCost(group?.cost_nano_usd?.[0] ?? 0, group?.unpriced?.[0] ?? 0)} name="list price" />
          </div>
          {hour.data === undefined ? null : <MinuteLine usage={hour.data} />}
        </>
      )}
    </section>
  );
}

const W = 520;
const H = 84;

/** Calls per minute as a line, failures as bars. */
function MinuteLine({ usage }: { readonly usage: Usage }): JSX.Element {
  const all = total(usage, 'runs');
  // The hour cuts its first minute in two, and the last one is not over: a part of a minute would look like a fall, unless it is a rise already.
  const end = (all.at(-1) ?? 0) >= (all.at(-2) ?? 0) ? all.length : -1;
  const runs = all.slice(1, end);
  const failed = total(usage, 'failed').slice(1, end);
  const buckets = usage.buckets.slice(1, end);
  const most = Math.max(1, ...runs);
  const x = (index: number): number => (index / Math.max(1, runs.length - 1)) * W;
  const y = (value: number): number => H - (value / most) * (H - 14);
  const points = runs.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  return (
    <div className="minute">
      <svg viewBox={`0 0 ${W} ${H}`} preserveAspectRatio="none" role="img" aria-label={`calls per minute, at most ${most}`}>
        <polygon className="area" points={`0,${H} ${points} ${W},${H}`} />
        <polyline className="line" points={points} />
        {failed.map((value, index) =>
          value === 0 ? null : <rect key={buckets[index]} className="fail" x={x(index) - 2} width={4} y={y(value)} height={H - y(value)} />,
        )}
      </svg>
      <div className="ax">
        {[0, 0.25, 0.5, 0.75].map((share) => (
          <span key={share}>{hourMinute(buckets[Math.floor(share * (buckets.length - 1))] ?? 0)}</span>
        ))}
        <span>now</span>
      </div>
    </div>
  );
}

function Newest({ rows }: { readonly rows: readonly RunRow[] }): JSX.Element {
  return (
    <section className="panel newest o5" aria-label="Newest runs">
      <div className="ph">
        <h2 className="grow">Newest runs</h2>
        <Link to="/runs" className="s ink2">
          All runs <kbd>G</kbd> <kbd>R</kbd>
        </Link>
      </div>
      <table aria-label="Newest runs">
        {/* The widths of the columns: those of the first row would be of a run that failed, whose reason takes two of them. */}
        <colgroup>
          <col className="stat" />
          <col className="time hide-s" />
          <col />
          <col className="fid" />
          <col className="took hide-s" />
          <col className="cost" />
        </colgroup>
        <tbody>
          {rows.map((row) => (
            <tr key={row.run_id}>
              <td className="stat">
                <StatusGlyph status={row.status} waiting={row.waiting} />
              </td>
              <td className="m mute hide-s">{time(row.started_at)}</td>
              <td className="who">
                <Link to="/runs/$run" params={{ run: row.run_id }}>
                  <RunTitle row={row} />
                </Link>
              </td>
              <td className="fid">
                {row.plane !== 'gateway' ? null : row.mode === 'passthrough' ? <Equal /> : <FateStrip fates={row.fates} />}
              </td>
              {row.error === null ? (
                <>
                  <td className="m r hide-s">{row.total_ms === null ? '' : duration(row.total_ms)}</td>
                  <td className="m r">
                    {row.cost_nano_usd === null ? (
                      <span className="mute">{row.tokens === null ? '–' : 'no price'}</span>
                    ) : (
                      cost(row.cost_nano_usd)
                    )}
                  </td>
                </>
              ) : (
                <>
                  <td className="bad r s hide-s" colSpan={2}>
                    {row.error.code}
                  </td>
                  <td className="bad r s only-s">{row.error.code}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Equal(): JSX.Element {
  return (
    <span className="mode s">
      <Icon name="pass" /> equal
    </span>
  );
}

/** The command, the file or the arguments, in one line. */
function wantedBy(item: Interaction): string {
  const { path } = wishOf(item);
  if (path !== null) return path;
  const { input } = item;
  const command: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, 'command') : undefined;
  return typeof command === 'string' ? command : typeof input === 'string' ? input : JSON.stringify(input);
}

function Waits(): JSX.Element | null {
  const open = useQuery(interactionsQuery);
  const items = open.data?.items ?? [];
  const now = useNow(items.length > 0);
  if (items.length === 0) return null;
  return (
    <section className="panel waits o1" aria-label="Waits for you">
      <div className="ph">
        <i className="dot warn" />
        <h2 className="grow">
          {items.length} {items.length === 1 ? 'waits' : 'wait'} for you
        </h2>
        <Link to="/inbox" className="s ink2">
          Inbox <kbd>G</kbd> <kbd>I</kbd>
        </Link>
      </div>
      {items.slice(0, 5).map((item) => (
        <Link key={item.answer.path} className="ai" to="/inbox">
          <span className="row">
            <b>{item.agent}</b> <span className="grow">{wishOf(item).words}</span>
            <span className="mute s">{waiting(now - Date.parse(item.asked_at))}</span>
          </span>
          <code className="el">{wantedBy(item)}</code>
        </Link>
      ))}
    </section>
  );
}
