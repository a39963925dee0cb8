import { useQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { Button } from '../bits/bits.tsx';
import { type Row, rowsOf, type SideLine } from './rows.ts';
import './side-by-side.css';

/** Equal lines that stand before and after what differs; more of them are folded. */
const AROUND = 3;
const MOST_ROWS = 1000;

type Shown = Row | { readonly folded: number; readonly key: string };

/** The rows with long equal stretches folded. */
function folded(rows: readonly Row[], all: boolean): readonly Shown[] {
  if (all) return rows;
  const near = rows.map(() => false);
  rows.forEach(({ equal }, index) => {
    if (!equal) near.fill(true, Math.max(0, index - AROUND), index + AROUND + 1);
  });
  const shown: Shown[] = [];
  let hidden = 0;
  rows.forEach((row, index) => {
    if (near[index] !== true) hidden += 1;
    if (hidden > 0 && (near[index] === true || index === rows.length - 1)) shown.push({ folded: hidden, key: `f${index}` });
    if (near[index] !== true) return;
    hidden = 0;
    shown.push(row);
  });
  return shown;
}

/** Two texts beside each other, line by line, with what differs marked. Differences are said by ≠ in the gutter, too. */
export function SideBySide({ left, right, label }: { readonly left: string; readonly right: string; readonly label: string }): JSX.Element {
  const [all, setAll] = useState(false);
  const rows = useQuery({
    queryKey: ['side-by-side', left, right],
    queryFn: () => rowsOf(left, right),
    networkMode: 'always',
    staleTime: Number.POSITIVE_INFINITY,
  });
  const differs = rows.data?.some(({ equal }) => !equal) ?? false;
  const shown = folded(rows.data ?? [], all || !differs);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys
    <div className="side-by-side m" role="group" aria-label={label} tabIndex={0}>
      {shown.slice(0, MOST_ROWS).map((row) =>
        'folded' in row ? (
          <div key={row.key} className="fold">
            <Button small look="quiet" onClick={() => setAll(true)}>
              {row.folded === 1 ? 'one equal line' : `${row.folded} equal lines`}
            </Button>
          </div>
        ) : (
          <div key={`${row.left?.number ?? ''}-${row.right?.number ?? ''}`} className={row.equal ? 'two' : 'two ch'}>
            <Line line={row.left} equal={row.equal} />
            <Line line={row.right} equal={row.equal} />
          </div>
        ),
      )}
      {shown.length > MOST_ROWS ? <p className="note">{shown.length - MOST_ROWS} more lines</p> : null}
    </div>
  );
}

function Line({ line, equal }: { readonly line: SideLine | null; readonly equal: boolean }): JSX.Element {
  if (line === null) return <div className="gone" />;
  return (
    <div>
      <span className="no">{line.number}</span>
      <b>{equal ? ' ' : '≠'}</b>
      <span>
        {line.pieces.map(({ text, marked }, index) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
          marked ? <mark key={index}>{text}</mark> : text,
        )}
      </span>
    </div>
  );
}
