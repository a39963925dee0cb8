import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type JSX, useCallback, useMemo, useRef, useState } from 'react';
import { keysQuery, sessionQuery } from '../../api/queries.ts';
import { replay } from '../../api/replay.ts';
import type { RunRow } from '../../api/types.ts';
import { time } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { useUrlState } from '../../base/url-state.ts';
import { Button, Empty, ErrorBand, Select, useNow } from '../../components/bits/bits.tsx';
import { DataList } from '../../components/data-list/data-list.tsx';
import { Histogram } from '../../components/histogram/histogram.tsx';
import { histogramQuery, type Live, rowsQuery, useLiveRows } from './data.ts';
import { chipsOf, isView, VIEWS } from './filter.ts';
import { FilterField } from './filter-field.tsx';
import { HEAD, RunCells } from './list.tsx';
import { Peek } from './peek.tsx';
import './page.css';
import './runs.css';

const ROW = 27;
const PHONE_ROW = 52;
const SPANS = [
  ['3600000', 'Last hour'],
  ['7200000', 'Last 2 hours'],
  ['86400000', 'Last day'],
  ['604800000', 'Last 7 days'],
  ['2592000000', 'Last 30 days'],
] as const;

const isPhone = (): boolean => window.matchMedia('(max-width: 720px)').matches;

/** Runs under way stand on top; the rest is by their start, newest first. */
function ordered(rows: readonly RunRow[]): readonly RunRow[] {
  const running = rows.filter(({ completed_at }) => completed_at === null);
  return running.length === 0 ? rows : [...running, ...rows.filter(({ completed_at }) => completed_at !== null)];
}

function useKeyNames(): (id: string | null) => string {
  const session = useQuery(sessionQuery);
  const keys = useQuery({ ...keysQuery, enabled: session.data?.scopes.includes('settings') === true });
  const names = useMemo(() => new Map(keys.data?.items.map(({ id, name }) => [id, name])), [keys.data]);
  return (id) => (id === null ? '' : (names.get(id) ?? `…${id.slice(-6)}`));
}

function LiveSwitch({ on, live, toggle }: { readonly on: boolean; readonly live: Live; toggle(): void }): JSX.Element {
  const broken = on && !live.stream.live && live.stream.since !== null;
  return (
    <Button onClick={toggle} aria-pressed={on} keys="L">
      <i className={on && live.stream.live ? 'dot live' : 'dot off'} />
      {broken ? `Not live since ${time(live.stream.since ?? 0)}` : 'Live'}
    </Button>
  );
}

export function Page(): JSX.Element {
  const [state, change] = useUrlState();
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [atTop, setAtTop] = useState(true);
  const [liveOn, setLiveOn] = useState(true);
  const [marked, setMarked] = useState<ReadonlySet<string>>(() => new Set(state.compare === undefined ? [] : [state.compare]));
  const [failure, setFailure] = useState<unknown>(null);
  const span = Number(state.span ?? 7_200_000);
  const pages = useInfiniteQuery(rowsQuery(state));
  const live = useLiveRows(state, liveOn, !atTop);
  const histogram = useQuery(histogramQuery(state, span));
  const rows = useMemo(() => ordered(pages.data?.pages.flatMap(({ items }) => items) ?? []), [pages.data]);
  const keyName = useKeyNames();
  const now = useNow(rows[0]?.completed_at === null);
  const selected = state.sel === undefined ? -1 : rows.findIndex(({ run_id }) => run_id === state.sel);
  const chosen = rows[selected];
  const choose = (index: number): void => change({ sel: rows[index]?.run_id }, { replace: true });
  const open = (row: RunRow | undefined): void => {
    if (row !== undefined) void navigate({ to: '/runs/$run', params: { run: row.run_id } });
  };
  const compare = (row: RunRow | undefined): void => {
    const [other] = marked;
    if (row === undefined) return;
    if (other === undefined || other === row.run_id) setMarked(new Set([row.run_id]));
    else void navigate({ to: '/runs/$a/vs/$b', params: { a: other, b: row.run_id } });
  };
  const again = (row: RunRow | undefined): void => {
    if (row === undefined) return;
    replay(row.run_id).then((run) => navigate({ to: '/runs/$a/vs/$b', params: { a: row.run_id, b: run } }), setFailure);
  };
  const view = VIEWS.findIndex(({ filter }) => isView(state, filter));
  const goView = (index: number): void => {
    const next = VIEWS[(index + VIEWS.length) % VIEWS.length];
    if (next !== undefined) void navigate({ to: '/runs', search: next.filter });
  };
  const move = (by: number) => (): void => choose(Math.max(0, Math.min(rows.length - 1, selected + by)));
  const mark = (): void => {
    if (chosen !== undefined) setMarked(marked.has(chosen.run_id) ? new Set() : new Set([chosen.run_id]));
  };
  useKeys({
    j: move(1),
    arrowdown: move(1),
    k: move(-1),
    arrowup: move(-1),
    enter: () => open(chosen),
    ' ': () => choose(chosen === undefined ? 0 : -1),
    x: mark,
    c: () => compare(chosen),
    r: () => again(chosen),
    p: () => void navigate({ to: '/playground', search: { run: chosen?.run_id } }),
    y: () => void navigator.clipboard.writeText(chosen?.run_id ?? ''),
    f: () => change({ engine: chosen?.engine ?? undefined }),
    l: () => setLiveOn((before) => !before),
    '[': () => goView(view - 1),
    ']': () => goView(view + 1),
    '/': () => field.current?.focus(),
    escape: () => change({ sel: undefined }, { replace: true }),
  });
  const onEnd = useCallback(() => {
    if (pages.hasNextPage && !pages.isFetchingNextPage) void pages.fetchNextPage();
  }, [pages]);
  return (
    <div className="p-runs fill">
      <h1 className="sr">Runs</h1>
      <div className="bar">
        <FilterField state={state} field={field} change={change} />
        <LiveSwitch on={liveOn} live={live} toggle={() => setLiveOn((before) => !before)} />
        <Select
          label="Time"
          value={String(span)}
          options={SPANS}
          onChange={(value) => change({ span: value, since: undefined, until: undefined })}
        />
      </div>
      <Views current={view} go={goView} />
      <ErrorBand error={failure ?? pages.error} retry={() => void pages.refetch()} />
      <div className="split">
        <div className="list">
          {histogram.data === undefined ? (
            <div className="histogram hist-wait" />
          ) : (
            <Histogram usage={histogram.data} narrow={(since, until) => change({ since, until })} />
          )}
          {live.newer > 0 ? (
            <button type="button" className="newer" onClick={() => scroller.current?.scrollTo({ top: 0 })}>
              {live.newer} newer
            </button>
          ) : null}
          <output className="sr">{live.newer > 0 ? `${live.newer} new runs` : ''}</output>
          {rows.length === 0 && !pages.isPending ? (
            <Nothing chips={chipsOf(state)} remove={(name) => change({ [name]: undefined })} />
          ) : (
            <DataList
              {...{ label: 'Runs', head: HEAD, rows, selected, marked, scroller, onEnd }}
              rowHeight={isPhone() ? PHONE_ROW : ROW}
              idOf={({ run_id }) => run_id}
              renderRow={(row) => <RunCells row={row} now={now} keyName={keyName(row.key_id)} />}
              classOf={(row) => (row.completed_at === null ? 'under-way' : '')}
              onSelect={(index) => (isPhone() ? open(rows[index]) : choose(index))}
              onOpen={(index) => open(rows[index])}
              onTop={setAtTop}
            />
          )}
        </div>
        {chosen === undefined ? null : (
          <Peek
            row={chosen}
            keyName={keyName(chosen.key_id)}
            close={() => change({ sel: undefined }, { replace: true })}
            open={() => open(chosen)}
            replay={() => again(chosen)}
            compare={() => compare(chosen)}
          />
        )}
      </div>
    </div>
  );
}

function Views({ current, go }: { readonly current: number; go(index: number): void }): JSX.Element {
  return (
    <nav className="views" aria-label="Kept views">
      {VIEWS.map(({ name }, index) => (
        <button
          key={name}
          type="button"
          className={index === current ? 'on' : ''}
          aria-pressed={index === current}
          onClick={() => go(index)}
        >
          {name}
        </button>
      ))}
    </nav>
  );
}

/** Nothing fits: says which chip to take away. */
function Nothing({ chips, remove }: { readonly chips: readonly (readonly [string, string])[]; remove(name: string): void }): JSX.Element {
  if (chips.length === 0) return <Empty title="No runs yet">Every call leaves one. Home shows how to make the first.</Empty>;
  return (
    <Empty title="No run fits all of these">
      {chips.map(([name, words]) => (
        <Button key={name} small onClick={() => remove(name)}>
          without {words}
        </Button>
      ))}
    </Empty>
  );
}
