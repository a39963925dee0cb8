import type { JSX } from 'react';
import './diff.css';

const MOST = 400;

/** A unified diff, or two texts as one: additions and removals are said by + and −, colour comes on top. */
export function Diff({ text }: { readonly text: string }): JSX.Element {
  const lines = text.replace(/\n$/, '').split('\n');
  // A piece of a file does not say where in the file it stands; a diff with a head does, and a new file begins at its first line.
  const placed = lines[0]?.startsWith('@@') === true || lines.every((line) => line.startsWith('+'));
  let at = 0;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys
    <div className={placed ? 'diff m' : 'diff m unplaced'} role="group" aria-label="Changed lines" tabIndex={0}>
      {lines.slice(0, MOST).map((line, index) => {
        const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(line);
        if (hunk !== null) {
          at = Number(hunk[1]) - 1;
          // The first piece says where it begins by its numbers.
          return index === 0 ? null : (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
            <div key={index} className="d gap">
              ⋯
            </div>
          );
        }
        if (!line.startsWith('-')) at += 1;
        const kind = line.startsWith('+') ? 'ad' : line.startsWith('-') ? 'de' : '';
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
          <div key={index} className={`d ${kind}`}>
            {placed ? <span>{kind === 'de' ? '' : at}</span> : null}
            <b>{kind === 'ad' ? '+' : kind === 'de' ? '−' : ' '}</b>
            {kind === '' ? line.replace(/^ /, '') : line.slice(1)}
          </div>
        );
      })}
      {lines.length > MOST ? <p className="note">{lines.length - MOST} more lines</p> : null}
    </div>
  );
}
