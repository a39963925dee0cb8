import { type JSX, useState } from 'react';

const HIDDEN = 'abp.columns-off';

/** The columns that can be left out, by the names of their cells. */
const COLUMNS = [
  ['fid', 'Fidelity'],
  ['tok', 'Tokens in / out'],
  ['dur', 'First byte, total'],
  ['cost', 'Cost'],
  ['key', 'Key'],
] as const;

/** Kept with the columns, because it is chosen with them. */
const COMPACT = 'compact';

export const isCompact = (hidden: ReadonlySet<string>): boolean => !hidden.has(COMPACT);

export function useHiddenColumns(): readonly [ReadonlySet<string>, (name: string) => void] {
  const [hidden, setHidden] = useState(() => new Set((localStorage.getItem(HIDDEN) ?? '').split(' ').filter(Boolean)));
  const toggle = (name: string): void => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    localStorage.setItem(HIDDEN, [...next].join(' '));
    setHidden(next);
  };
  return [hidden, toggle];
}

/** Which columns the list has, remembered in this browser. */
export function Columns({ hidden, toggle }: { readonly hidden: ReadonlySet<string>; toggle(name: string): void }): JSX.Element {
  return (
    <details className="menu hide-s">
      <summary className="btn">Columns</summary>
      <div className="floats">
        {COLUMNS.map(([name, words]) => (
          <label key={name} className="row">
            <input type="checkbox" checked={!hidden.has(name)} onChange={() => toggle(name)} /> {words}
          </label>
        ))}
        <hr />
        <label className="row">
          <input type="checkbox" checked={isCompact(hidden)} onChange={() => toggle(COMPACT)} /> Compact rows
        </label>
      </div>
    </details>
  );
}
