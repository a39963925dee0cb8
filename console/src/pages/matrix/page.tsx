import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type JSX, useMemo, useState } from 'react';
import { send } from '../../api/client.ts';
import { matrixQuery } from '../../api/queries.ts';
import type { Matrix } from '../../api/types.ts';
import { useKeys } from '../../base/keys.ts';
import { useUrlState } from '../../base/url-state.ts';
import { ErrorBand, Segmented } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { Cell, LEVEL_WORDS, Legend } from './cell.tsx';
import { groupsOf, rowsOf, wordOf } from './grid.ts';
import './page.css';
import './matrix.css';

type Kind = 'engine' | 'adapter' | 'host';

interface Asking {
  readonly text: string;
  readonly can: ReadonlySet<string> | null;
}

/** Who can do what, how well, and how do we know? */
export function Page(): JSX.Element {
  const [state, change] = useUrlState();
  const navigate = useNavigate();
  const matrix = useQuery(matrixQuery);
  const kind: Kind = state.kind === 'adapter' || state.kind === 'host' ? state.kind : 'engine';
  const [find, setFind] = useState('');
  const [asking, setAsking] = useState<Asking>({ text: '', can: null });
  const [failure, setFailure] = useState<unknown>(null);
  const groups = useMemo(() => groupsOf(matrix.data, kind, find), [matrix.data, kind, find]);
  const rows = useMemo(() => rowsOf(matrix.data, kind, find, groups.length > 0), [matrix.data, kind, find, groups]);
  const columns = groups.flatMap(({ names }) => names);
  const row = Math.max(
    0,
    rows.findIndex(({ id }) => id === state.row),
  );
  const column = Math.max(0, columns.indexOf(state.col ?? ''));
  const choose = (nextRow: number, nextColumn: number): void => {
    const to = rows[Math.max(0, Math.min(rows.length - 1, nextRow))];
    change({ row: to?.id, col: columns[Math.max(0, Math.min(columns.length - 1, nextColumn))] }, { replace: true });
  };
  useKeys({
    arrowdown: () => choose(row + 1, column),
    arrowup: () => choose(row - 1, column),
    arrowright: () => choose(row, column + 1),
    arrowleft: () => choose(row, column - 1),
    p: () => void navigate({ to: '/playground', search: { to: rows[row]?.name } }),
  });
  const ask = async (): Promise<void> => {
    if (asking.text.trim() === '') return setAsking({ ...asking, can: null });
    const required = asking.text
      .trim()
      .split(/\s+/)
      .map((word) => {
        const [capability, level = 'native'] = word.split('=');
        return { capability, min_support: level };
      });
    const answers = await Promise.all(
      rows.map(
        async ({ id }) =>
          [id, await send<{ unmet: readonly unknown[] }>('POST', '/v1/negotiate', { backend: id, requirements: { required } })] as const,
      ),
    );
    setFailure(null);
    setAsking({ ...asking, can: new Set(answers.filter(([, { unmet }]) => unmet.length === 0).map(([id]) => id)) });
    return undefined;
  };
  return (
    <div className="p-matrix fill">
      <h1 className="sr">Matrix</h1>
      <div className="bar">
        <Segmented<Kind>
          label="Kind"
          value={kind}
          onChange={(next) => change({ kind: next, row: undefined })}
          options={[
            ['engine', 'Engines'],
            ['adapter', 'Coding agents'],
            ['host', 'Hosts'],
          ]}
        />
        <input
          aria-label="Find a row or a capability"
          placeholder="Find an engine or a capability"
          value={find}
          onChange={(event) => setFind(event.target.value)}
        />
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            ask().catch(setFailure);
          }}
        >
          <label className="mute" htmlFor="ask">
            or ask:
          </label>
          <input
            id="ask"
            className="m ask"
            placeholder="logprobs=native pdf_input=emulated"
            value={asking.text}
            onChange={(event) => setAsking({ text: event.target.value, can: null })}
          />
        </form>
        {asking.can === null ? null : (
          <output>
            <b>
              {asking.can.size === 0
                ? 'nobody'
                : rows
                    .filter(({ id }) => asking.can?.has(id) === true)
                    .map(({ name }) => name)
                    .join(', ')}
            </b>{' '}
            can
          </output>
        )}
      </div>
      <ErrorBand error={failure ?? matrix.error} />
      <div className="split">
        <div className="gr scroll">
          <table>
            <thead>
              <tr className="g">
                <td />
                {groups.map(({ title, names }) => (
                  <th key={title} colSpan={names.length} className="fs" scope="colgroup">
                    {title}
                  </th>
                ))}
              </tr>
              <tr>
                <th scope="col">
                  <span className="sr">{kind}</span>
                </th>
                {columns.map((name, index) => (
                  <th key={name} scope="col" className={index === column ? 'colon' : ''}>
                    <span className="rot">{wordOf(name)}</span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id, name, cells }, at) => (
                <tr key={id} className={at === row ? 'on' : asking.can !== null && !asking.can.has(id) ? 'cannot' : ''}>
                  <th scope="row" className="en">
                    {name}
                  </th>
                  {columns.map((capability, index) => (
                    <td key={capability} className={index === column ? 'cc colon' : 'cc'}>
                      <button
                        type="button"
                        tabIndex={at === row && index === column ? 0 : -1}
                        className={at === row && index === column ? 'hit' : ''}
                        onClick={() => choose(at, index)}
                      >
                        <Cell level={cells.get(capability)} />
                        <span className="sr">{`${name}, ${wordOf(capability)}, ${LEVEL_WORDS[cells.get(capability) ?? ''] ?? 'not stated'}`}</span>
                      </button>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          <Legend />
        </div>
        {rows[row] === undefined ? null : (
          <Detail
            matrix={matrix.data}
            name={rows[row].name}
            backend={rows[row].id}
            column={columns[column] ?? ''}
            level={rows[row].cells.get(columns[column] ?? '')}
          />
        )}
      </div>
    </div>
  );
}

interface DetailProps {
  readonly matrix: Matrix | undefined;
  readonly name: string;
  readonly backend: string;
  readonly column: string;
  readonly level: string | undefined;
}

const MEANING: Readonly<Record<string, string>> = {
  native: 'The backend does this itself.',
  emulated: 'It is approximated by translation, and every use is labelled.',
  restricted: 'It is there with a restriction, which the manifest names.',
  unsupported: 'Refused with E001, unless the caller opts into an emulation.',
  passthrough: 'No request rewriting: bytes in are bytes out.',
  mapped: 'Opinionated mapping with early errors: every field has a fate.',
};

function Detail({ matrix, name, backend, column, level }: DetailProps): JSX.Element {
  const source = matrix?.capabilities.find((known) => known.backend === backend && known.capability === column)?.source;
  const others = (matrix?.capabilities ?? [])
    .filter((known) => known.capability === column && known.level === 'native')
    .map((known) => known.backend);
  const isDialect = level === 'passthrough' || level === 'mapped';
  return (
    <aside className="det scroll" aria-label="The selected cell">
      <div className="mute s">
        {name}, {wordOf(column)}
      </div>
      <div className="lv">
        <Cell level={level} /> {LEVEL_WORDS[level ?? ''] ?? 'not stated'}
      </div>
      <p className="note">{MEANING[level ?? ''] ?? 'Nobody has said; it counts as unsupported.'}</p>
      {level === 'unsupported' ? <pre className="code">X-ABP-Emulate: {column}</pre> : null}
      {source === undefined ? null : (
        <dl className="kv">
          <dt>source</dt>
          <dd>
            {source} of {name}
          </dd>
        </dl>
      )}
      {isDialect ? null : (
        <>
          <h2>Who has it natively</h2>
          <p className="note">{others.length === 0 ? 'nobody' : others.map((id) => id.replace(/^\w+:/, '')).join(', ')}</p>
        </>
      )}
      <span className="grow" />
      <div className="row">
        <Link className="btn" to="/playground" search={{ to: name, ...(isDialect ? { from: column } : {}) }}>
          <Icon name="play" /> Try in Playground
        </Link>
        <Link className="btn" to="/runs" search={{ engine: name }}>
          Runs of {name}
        </Link>
      </div>
    </aside>
  );
}
