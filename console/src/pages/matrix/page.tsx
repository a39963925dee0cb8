import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type JSX, useMemo, useRef, useState } from 'react';
import { matrixQuery } from '../../api/queries.ts';
import type { Matrix } from '../../api/types.ts';
import { useKeys } from '../../base/keys.ts';
import { useUrlState } from '../../base/url-state.ts';
import { ErrorBand, Segmented } from '../../components/bits/bits.tsx';
import { CellGrid, CellList, type Place } from './cell-grid.tsx';
import { askQuery } from './data.ts';
import { Detail } from './detail.tsx';
import { countOf, groupsOf, type Kind, rowsOf } from './grid.ts';
import { Models } from './models.tsx';
import './page.css';

const KINDS: readonly (readonly [Kind, string])[] = [
  ['engine', 'Engines'],
  ['adapter', 'Coding agents'],
  ['host', 'Hosts'],
  ['sidecar', 'Sidecars'],
];

/** Who can do what, how well, and how do we know? */
export function Page(): JSX.Element {
  const [state, change] = useUrlState();
  const matrix = useQuery(matrixQuery);
  const chosen = state.kind ?? 'engine';
  const tabs = KINDS.map(([id, name]) => [id, name, countOf(matrix.data, id)] as const).filter(
    ([id, , many]) => many > 0 || id === 'engine',
  );
  return (
    <div className="p-matrix fill">
      <h1 className="sr">Matrix</h1>
      <div className="bar">
        <Segmented<string>
          label="Kind"
          value={chosen}
          onChange={(kind) => change({ kind, row: undefined, col: undefined })}
          options={[...tabs.map(([id, name, many]) => [id, `${name} ${many === 0 ? '' : many}`] as const), ['models', 'Models']]}
        />
        {chosen === 'models' ? null : <Search />}
      </div>
      {chosen === 'models' ? (
        <Models />
      ) : (
        <Backends matrix={matrix.data} failure={matrix.error} kind={KINDS.find(([id]) => id === chosen)?.[0] ?? 'engine'} />
      )}
    </div>
  );
}

/** Finds a row or a column; asks who meets requirements. */
function Search(): JSX.Element {
  const [state, change] = useUrlState();
  const [asking, setAsking] = useState(state.ask ?? '');
  const field = useRef<HTMLInputElement>(null);
  useKeys({ '/': () => field.current?.focus() });
  const ask = (event: FormEvent): void => {
    event.preventDefault();
    change({ ask: asking.trim() === '' ? undefined : asking.trim() }, { replace: true });
  };
  return (
    <>
      <input
        ref={field}
        aria-label="Find an engine or a capability"
        placeholder="Find an engine or a capability"
        value={state.find ?? ''}
        onChange={(event) => change({ find: event.target.value || undefined }, { replace: true })}
      />
      <form className="row" onSubmit={ask}>
        <label className="mute" htmlFor="ask">
          or ask:
        </label>
        <input
          id="ask"
          className="m ask"
          placeholder="logprobs=native pdf_input=native"
          value={asking}
          onChange={(event) => setAsking(event.target.value)}
        />
      </form>
    </>
  );
}

interface BackendsProps {
  readonly matrix: Matrix | undefined;
  readonly failure: unknown;
  readonly kind: Kind;
}

function Backends({ matrix, failure, kind }: BackendsProps): JSX.Element {
  const [state, change] = useUrlState();
  const navigate = useNavigate();
  const find = state.find ?? '';
  const groups = useMemo(() => groupsOf(matrix, kind, find), [matrix, kind, find]);
  const rows = useMemo(() => rowsOf(matrix, kind, find), [matrix, kind, find]);
  const columns = useMemo(() => groups.flatMap(({ names }) => names), [groups]);
  const ids = useMemo(() => rows.map(({ id }) => id), [rows]);
  const asked = useQuery(askQuery(state.ask ?? '', ids));
  const [hovered, setHovered] = useState<Place | null>(null);
  const [pinned, setPinned] = useState(false);
  const at = { row: Math.max(0, ids.indexOf(state.row ?? '')), column: Math.max(0, columns.indexOf(state.col ?? '')) };
  const choose = ({ row, column }: Place): void => {
    const [low, high] = [Math.max(0, Math.min(rows.length - 1, row)), Math.max(0, Math.min(columns.length - 1, column))];
    change({ row: ids[low], col: columns[high] }, { replace: true });
  };
  useKeys({
    arrowdown: () => choose({ row: at.row + 1, column: at.column }),
    arrowup: () => choose({ row: at.row - 1, column: at.column }),
    arrowright: () => choose({ row: at.row, column: at.column + 1 }),
    arrowleft: () => choose({ row: at.row, column: at.column - 1 }),
    enter: () => setPinned((before) => !before),
    escape: () => setPinned(false),
    p: () => {
      const column = columns[at.column] ?? '';
      const isDialect = matrix?.cells.some(({ dialect }) => dialect === column) === true;
      void navigate({ to: '/playground', search: { to: rows[at.row]?.name, ...(isDialect ? { from: column } : {}) } });
    },
  });
  const shown = pinned ? at : (hovered ?? at);
  const row = rows[shown.row];
  const can = rows.filter(({ id }) => asked.data?.get(id)?.length === 0).map(({ name }) => name);
  return (
    <>
      <ErrorBand error={failure ?? asked.error} />
      {asked.data === undefined || state.ask === undefined ? null : (
        <output className="asked">
          <b>{can.length === 0 ? 'nobody' : can.join(', ')}</b> can
        </output>
      )}
      <div className="split">
        <CellGrid
          title={kind}
          groups={groups}
          rows={rows}
          at={at}
          unmet={state.ask === undefined ? undefined : asked.data}
          choose={(place) => {
            choose(place);
            setPinned(true);
          }}
          hover={setHovered}
        />
        <CellList
          rows={rows}
          columns={columns}
          at={at}
          by={state.by === 'column' ? 'column' : 'row'}
          choose={(place, by) => change({ row: ids[place.row], col: columns[place.column], by }, { replace: true })}
        />
        {row === undefined ? null : (
          <Detail
            matrix={matrix}
            kind={kind}
            row={row}
            column={columns[shown.column] ?? ''}
            unmet={state.ask === undefined ? undefined : asked.data?.get(row.id)}
            pinned={pinned}
          />
        )}
      </div>
    </>
  );
}
