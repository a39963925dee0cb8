import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type JSX, type PointerEvent, useCallback, useMemo, useRef, useState } from 'react';
import { enginesQuery, rowQuery } from '../../api/queries.ts';
import { replay } from '../../api/replay.ts';
import type { RunRow } from '../../api/types.ts';
import { copyAloud } from '../../base/copy.ts';
import { FATES } from '../../base/fates.ts';
import { time } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { tellFailure } from '../../base/told.ts';
import { type UrlState, useUrlChoice, useUrlState } from '../../base/url-state.ts';
import { Button, Empty, ErrorBand, Select, useNow } from '../../components/bits/bits.tsx';
import { DataList } from '../../components/data-list/data-list.tsx';
import { Histogram } from '../../components/histogram/histogram.tsx';
import { Columns, isCompact, useHiddenColumns } from './columns.tsx';
import { countsQuery, histogramQuery, type Live, rowsQuery, useLiveRows, useOrdered, withoutQuery } from './data.ts';
import { chipsOf, SPANS, shownSpan, viewFilter, withSince } from './filter.ts';
import { FilterField } from './filter-field.tsx';
import { HEAD, RunCells } from './list.tsx';
import { Peek } from './peek.tsx';
import { useViews, ViewBar } from './views.tsx';
import './page.css';
import './runs.css';

const ROW = 27;
const WIDE_ROW = 34;
const PHONE_ROW = 52;
const isPhone = (): boolean => window.matchMedia('(max-width: 720px)').matches;

function LiveSwitch({ on, live, toggle }: { readonly on: boolean; readonly live: Live; toggle(): void }): JSX.Element {
  const broken = on && !live.stream.live && live.stream.since !== null;
  return (
    <Button onClick={toggle} aria-pressed={on} keys="L">
      <i className={on && live.stream.live ? 'dot live' : 'dot off'} />
      {broken ? `Not live since ${time(live.stream.since ?? 0)}, trying again` : 'Live'}
    </Button>
  );
}

const FOLLOWING = ['on', 'off'] as const;

export function Page(): JSX.Element {
  const [state, change] = useUrlState();
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [atTop, setAtTop] = useState(true);
  const [following, setFollowing] = useUrlChoice('live', FOLLOWING);
  const liveOn = following === 'on';
  const toggleLive = (): void => setFollowing(liveOn ? 'off' : 'on');
  const cell = useCell();
  const [marked, setMarked] = useState<ReadonlySet<string>>(() => new Set(state.compare === undefined ? [] : [state.compare]));
  // biome-ignore lint/correctness/useExhaustiveDependencies: a span is counted back from when it was chosen
  const asked = useMemo(() => withSince(state, Date.now()), [JSON.stringify(state)]);
  const pages = useInfiniteQuery(rowsQuery(asked));
  const live = useLiveRows(asked, liveOn && state.before === undefined, !atTop);
  const rows = useOrdered(pages.data);
  const below = useMemo(() => belowParents(rows), [rows]);
  const histogram = useQuery({ ...histogramQuery(asked, shownSpan(asked, rows.at(-1)?.started_at)), enabled: !pages.isPending });
  const counts = useQuery({ ...countsQuery(asked.since), enabled: !pages.isPending });
  const engines = useQuery(enginesQuery);
  const known = useMemo(() => knownValues(rows, engines.data?.items.map(({ id }) => id) ?? []), [rows, engines.data]);
  const [hidden, toggleColumn] = useHiddenColumns();
  const rowHeight = isPhone() ? PHONE_ROW : isCompact(hidden) ? ROW : WIDE_ROW;
  const { views, current: view, keep, drop } = useViews(state);
  const now = useNow(rows[0]?.completed_at === null);
  const selected = state.sel === undefined ? -1 : rows.findIndex(({ run_id }) => run_id === state.sel);
  const elsewhere = useQuery(rowQuery(selected === -1 && !pages.isPending ? state.sel : undefined));
  const chosen = rows[selected] ?? elsewhere.data ?? undefined;
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
    replay(row.run_id).then((run) => navigate({ to: '/runs/$a/vs/$b', params: { a: row.run_id, b: run } }), tellFailure);
  };
  const goView = (index: number): void => {
    const next = views[(index + views.length) % views.length];
    if (next !== undefined) void navigate({ to: '/runs', search: { ...next.filter, span: state.span } });
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
    arrowright: cell.steer(1),
    arrowleft: cell.steer(-1),
    enter: () => open(chosen),
    ' ': () => choose(chosen === undefined ? 0 : -1),
    x: mark,
    c: () => compare(chosen),
    r: () => again(chosen),
    p: () => void navigate({ to: '/playground', search: { run: chosen?.run_id } }),
    y: () => void copyAloud(chosen?.run_id),
    f: () => {
      if (chosen !== undefined) change(filterByCell(chosen, cell.current()));
    },
    l: toggleLive,
    '[': () => goView(view - 1),
    ']': () => goView(view + 1),
    '/': () => field.current?.focus(),
    escape: () => change({ sel: undefined }, { replace: true }),
  });
  const onEnd = useCallback(() => {
    if (pages.hasNextPage && !pages.isFetchingNextPage) void pages.fetchNextPage();
  }, [pages]);
  return (
    <div className={['p-runs fill', ...[...hidden].map((name) => `no-${name}`)].join(' ')}>
      <h1 className="sr">Runs</h1>
      <div className="bar">
        <FilterField state={state} known={known} field={field} change={change} />
        <LiveSwitch on={liveOn} live={live} toggle={toggleLive} />
        <Select
          label="Time"
          value={state.span ?? ''}
          options={[['', 'Any time'], ...SPANS.map(([value, words]) => [value, words] as const)]}
          onChange={(value) => change({ span: value === '' ? undefined : value, since: undefined, until: undefined, before: undefined })}
        />
        <Columns hidden={hidden} toggle={toggleColumn} />
      </div>
      <ViewBar {...{ views, keep, drop }} current={view} counts={counts.data} canKeep={chipsOf(viewFilter(state)).length > 0} go={goView} />
      <ErrorBand error={pages.error} retry={() => void pages.refetch()} />
      <div className="split">
        <div className="list" data-cell={cell.steered} onPointerOver={cell.pointAt}>
          {histogram.data === undefined ? (
            <div className="histogram hist-wait" />
          ) : (
            <Histogram
              usage={histogram.data}
              narrow={(since, until) => change({ since, until, span: undefined, before: undefined })}
              jump={(before) => change({ before })}
            />
          )}
          {live.newer > 0 ? (
            <button type="button" className="newer" onClick={() => scroller.current?.scrollTo({ top: 0 })}>
              {live.newer} newer
            </button>
          ) : null}
          <output className="sr">{live.newer > 0 ? `${live.newer} new runs` : ''}</output>
          {rows.length === 0 && pages.isSuccess ? (
            <Nothing state={asked} chips={chipsOf(state)} remove={(name) => change({ [name]: undefined })} />
          ) : (
            <DataList
              key={rowHeight}
              {...{ label: 'Runs', head: HEAD, rows, rowHeight, selected, marked, scroller, onEnd }}
              idOf={({ run_id }) => run_id}
              renderRow={(row) => <RunCells row={row} now={now} below={below.has(row.run_id)} />}
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
            ahead={[rows[selected + 1], rows[selected + 2]]}
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

/** The cells that F can filter by, in the order in which the arrows reach them. */
const CELLS = ['c-st', 'c-who', 'c-mode', 'c-fid', 'c-dur', 'c-cost', 'c-key'];

/** A cell that has no room keeps only its padding. */
const LEAST_WIDTH = 16;

interface Cell {
  /** The one that the arrows have chosen; empty while the pointer says which. */
  readonly steered: string;
  /** The classes of the cell that is meant. */
  current(): string;
  steer(by: number): () => void;
  pointAt(event: PointerEvent): void;
}

/** Which cell of the selected row is meant: that under the pointer, or the one that the arrows have chosen since. */
function useCell(): Cell {
  const pointed = useRef('');
  const [steered, setSteered] = useState('');
  return {
    steered,
    current: () => steered || pointed.current,
    steer: (by) => () => {
      const shown = CELLS.filter((name) => (document.querySelector(`.dl-row.on .${name}`)?.clientWidth ?? 0) > LEAST_WIDTH);
      setSteered(shown[Math.max(0, Math.min(shown.length - 1, shown.indexOf(steered) + by))] ?? '');
    },
    pointAt: ({ target }) => {
      pointed.current = target instanceof Element ? (target.closest('[role=gridcell]')?.className ?? '') : '';
      setSteered('');
    },
  };
}

/** The rows that stand below the run that asked for them; a filter shows calls without it, which are nobody's here. */
function belowParents(rows: readonly RunRow[]): ReadonlySet<string> {
  const below = new Set<string>();
  rows.forEach(({ run_id, parent_run_id: parent }, index) => {
    const before = rows[index - 1];
    if (parent === null || before === undefined) return;
    if (before.run_id === parent || (before.parent_run_id === parent && below.has(before.run_id))) below.add(run_id);
  });
  return below;
}

/** What the filter field can offer: the engines there are, and the models, keys, agents and tags of the rows. */
function knownValues(rows: readonly RunRow[], engine: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const seen = (of: (row: RunRow) => readonly (string | null)[]): string[] =>
    [...new Set(rows.flatMap(of))].filter((value) => value !== null);
  return {
    engine,
    model: seen(({ model, upstream_model }) => [model, upstream_model]),
    // The key of a run is nobody's to name; many runs have one of the same name.
    key: seen(({ key_name, parent_run_id }) => (parent_run_id === null ? [key_name] : [])),
    agent: seen(({ agent }) => [agent]),
    tag: seen(({ tags }) => tags),
  };
}

/** The condition that the cell under the pointer stands for; without one it is the engine. */
function filterByCell(row: RunRow, cell: string): UrlState {
  if (cell.includes('c-st')) return { status: row.status };
  if (cell.includes('c-mode')) return { mode: row.mode ?? undefined };
  if (cell.includes('c-key')) return { key: (row.parent_run_id === null ? row.key_name : null) ?? row.key_id ?? undefined };
  if (cell.includes('c-err')) return { reason: row.error?.code };
  if (cell.includes('c-fid')) return { fate: FATES.findLast((_, index) => (row.fates[index] ?? 0) > 0) };
  if (cell.includes('c-cost')) return { min_cost_nano_usd: String(row.cost_nano_usd ?? 0) };
  if (cell.includes('c-dur')) return { min_ms: String(Math.floor(row.total_ms ?? 0)) };
  return { engine: row.engine ?? undefined };
}

type Chips = readonly (readonly [string, string])[];

/** Nothing fits: says which chip excludes everything, and how many there are without it. */
function Nothing({ state, chips, remove }: { readonly state: UrlState; readonly chips: Chips; remove(name: string): void }): JSX.Element {
  const left = useQueries({ queries: chips.map(([name]) => withoutQuery(state, name === 'span' ? 'since' : name)) });
  if (chips.length === 0)
    return (
      <Empty title="No runs yet">
        <p className="note">
          Every call leaves one. <Link to="/">Home</Link> shows how to make the first.
        </p>
      </Empty>
    );
  // A chip whose removal shows nothing either is of no help, unless that holds for each of them.
  const helps = chips.some((_, index) => left[index]?.data !== undefined && left[index].data !== '0');
  return (
    <Empty title={chips.length === 1 ? 'No run fits this' : 'No run fits all of these'}>
      {chips.map(([name, words], index) =>
        helps && left[index]?.data === '0' ? null : (
          <p key={name} className="note">
            without <code>{words}</code> there {left[index]?.data === '1' ? 'is' : 'are'} {left[index]?.data ?? '…'}{' '}
            <Button small onClick={() => remove(name)}>
              Remove it
            </Button>
          </p>
        ),
      )}
    </Empty>
  );
}
