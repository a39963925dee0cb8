import { type JSX, useMemo, useState } from 'react';
import { whole } from '../../base/format.ts';
import { type DiffLine, diffLines } from './lines.ts';
import './diff.css';

const MOST = 400;

/** Additions and removals are said by + and −; colour comes on top. */
const LOOKS: Readonly<Record<DiffLine['kind'], readonly [string, string]>> = {
  added: ['d ad', '+'],
  removed: ['d de', '−'],
  kept: ['d', ' '],
  gap: ['d gap', ''],
};

/** A unified diff, or two texts as one. What is long is cut, and shown whole to who asks. */
export function Diff({ text }: { readonly text: string }): JSX.Element {
  const lines = useMemo(() => diffLines(text), [text]);
  const [all, setAll] = useState(false);
  const placed = lines.some(({ number }) => number !== null);
  const hidden = all ? 0 : Math.max(0, lines.length - MOST);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys
    <div className={placed ? 'diff m' : 'diff m unplaced'} role="group" aria-label="Changed lines" tabIndex={0}>
      {lines.slice(0, lines.length - hidden).map((line, index) => {
        const [looks, sign] = LOOKS[line.kind];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
          <div key={index} className={looks}>
            {placed && line.kind !== 'gap' ? <span>{line.number}</span> : null}
            {line.kind === 'gap' ? null : <b>{sign}</b>}
            {line.text}
          </div>
        );
      })}
      {hidden === 0 ? null : (
        <button type="button" className="link more" onClick={() => setAll(true)}>
          show all, {whole(hidden)} more lines
        </button>
      )}
    </div>
  );
}
