import { type JSX, useEffect, useRef } from 'react';
import { bringIntoView } from '../../base/bring-into-view.ts';
import { Select } from '../../components/bits/bits.tsx';
import { Cell, LEVEL_WORDS, Legend } from './cell.tsx';
import type { Unmet } from './data.ts';
import { type Group, type Row, wordOf } from './grid.ts';

export interface Place {
  readonly row: number;
  readonly column: number;
}

/** The names of rows and columns stay where they are and cover what passes below them. */
const NAMES = { left: 132, top: 150, other: 8 };

interface GridProps {
  readonly title: string;
  readonly groups: readonly Group[];
  readonly rows: readonly Row[];
  readonly at: Place;
  /** What each backend lacks of what was asked; undefined where nothing was. */
  readonly unmet: ReadonlyMap<string, Unmet> | undefined;
  choose(place: Place): void;
  hover(place: Place | null): void;
}

const saidOf = (row: Row, column: string): string =>
  `${row.name}, ${wordOf(column)}, ${LEVEL_WORDS[row.cells.get(column) ?? ''] ?? 'not stated'}`;

/** Backends by dialects and capabilities. A real table: a cell reads "gemini, extended thinking, unsupported". */
export function CellGrid({ title, groups, rows, at, unmet, choose, hover }: GridProps): JSX.Element {
  const columns = groups.flatMap(({ names }) => names);
  const firsts = new Set(groups.map(({ names }) => names[0]));
  const table = useRef<HTMLTableElement>(null);
  // The focus goes with the selection, but only where it was in the grid.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each place is a new one
  useEffect(() => {
    const cell = table.current?.querySelector<HTMLElement>('.hit');
    const part = table.current?.parentElement;
    if (cell && part) bringIntoView(cell, part, NAMES);
    if (table.current?.contains(document.activeElement) === true) cell?.focus();
  }, [at.row, at.column]);
  return (
    <div className="gr scroll">
      <table aria-label="Who can do what" ref={table} onMouseLeave={() => hover(null)}>
        <thead>
          <tr className="g">
            <td />
            {groups.map(({ title: name, names }) => (
              <th key={name} colSpan={names.length} className="fs" scope="colgroup">
                {name}
              </th>
            ))}
          </tr>
          <tr>
            <th scope="col">
              <span className="sr">{title}</span>
            </th>
            {columns.map((name, index) => (
              <th key={name} scope="col" className={`${index === at.column ? 'colon' : ''}${firsts.has(name) ? ' fs' : ''}`}>
                <span className="rot">{wordOf(name)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={row.id} className={index === at.row ? 'on' : (unmet?.get(row.id)?.length ?? 0) > 0 ? 'cannot' : ''}>
              <th scope="row" className="en">
                {row.name}
              </th>
              {columns.map((capability, column) => {
                const here = index === at.row && column === at.column;
                return (
                  <td key={capability} className={`cc${column === at.column ? ' colon' : ''}${firsts.has(capability) ? ' fs' : ''}`}>
                    <button
                      type="button"
                      tabIndex={here ? 0 : -1}
                      className={here ? 'hit' : ''}
                      onClick={() => choose({ row: index, column })}
                      onMouseEnter={() => hover({ row: index, column })}
                    >
                      <Cell level={row.cells.get(capability)} />
                      <span className="sr">{saidOf(row, capability)}</span>
                    </button>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <Legend />
    </div>
  );
}

interface ListProps {
  readonly rows: readonly Row[];
  readonly columns: readonly string[];
  readonly at: Place;
  /** Whether one backend is listed, or one capability. */
  readonly by: 'row' | 'column';
  choose(place: Place, by: 'row' | 'column'): void;
}

/** On a phone: one backend or one capability, as a list. */
export function CellList({ rows, columns, at, by, choose }: ListProps): JSX.Element {
  const row = rows[at.row];
  const column = columns[at.column] ?? '';
  const lines =
    by === 'row'
      ? columns.map((name) => [wordOf(name), row?.cells.get(name)] as const)
      : rows.map((one) => [one.name, one.cells.get(column)] as const);
  return (
    <div className="cell-list">
      <div className="row">
        <Select
          label="One backend or one capability"
          value={by === 'row' ? `row ${at.row}` : `column ${at.column}`}
          options={[
            ...rows.map((one, index) => [`row ${index}`, one.name] as const),
            ...columns.map((name, index) => [`column ${index}`, wordOf(name)] as const),
          ]}
          onChange={(value) => {
            const [which = 'row', index = '0'] = value.split(' ');
            if (which === 'row') choose({ row: Number(index), column: at.column }, 'row');
            else choose({ row: at.row, column: Number(index) }, 'column');
          }}
        />
      </div>
      <ul>
        {lines.map(([name, level]) => (
          <li key={name}>
            <span className="grow">{name}</span> <span className="mute s">{LEVEL_WORDS[level ?? ''] ?? 'not stated'}</span>{' '}
            <Cell level={level} />
          </li>
        ))}
      </ul>
    </div>
  );
}
