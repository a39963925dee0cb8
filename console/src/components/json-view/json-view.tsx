import { Fragment, type JSX, type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { lineAt } from '../../base/json-path.ts';
import { Icon } from '../icon/icon.tsx';
import './json-view.css';

interface JsonViewProps {
  readonly text: string;
  readonly label: string;
  /** The path of a field that is looked at: its line is marked and shown. */
  readonly at?: string | undefined;
}

const NONE: ReadonlySet<number> = new Set();

/** Text as it came, pretty where it is JSON, with objects and lists that fold. It has no syntax colours: colour in a body means fate. */
export function JsonView({ text, label, at }: JsonViewProps): JSX.Element {
  const { lines, ends } = useMemo(() => laidOut(text), [text]);
  const [folded, setFolded] = useState<ReadonlySet<number>>(NONE);
  const marked = useMemo(() => (at === undefined ? undefined : lineOf(text, at)), [text, at]);
  const line = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (marked === undefined) return;
    // What is looked for is never hidden.
    setFolded((before) => new Set([...before].filter((from) => marked <= from || marked > (ends.get(from) ?? from))));
    line.current?.scrollIntoView({ block: 'center' });
  }, [marked, ends]);
  const fold = (from: number, isFolded: boolean): void =>
    setFolded((before) => new Set(isFolded ? [...before, from] : [...before].filter((one) => one !== from)));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys
    <pre className="json-view" role="region" aria-label={label} tabIndex={0} onKeyDown={(event) => moveAlong(event, fold)}>
      {shownLines(lines.length, ends, folded).map((index) => {
        const end = ends.get(index);
        const isFolded = folded.has(index);
        return (
          <Fragment key={index}>
            <i aria-hidden="true">{index + 1}</i>
            {end === undefined ? (
              <em />
            ) : (
              <button
                type="button"
                data-line={index}
                tabIndex={index === 0 ? 0 : -1}
                aria-expanded={!isFolded}
                aria-label={`lines ${index + 1} to ${end + 1}`}
                onClick={() => fold(index, !isFolded)}
              >
                <Icon name={isFolded ? 'right' : 'down'} size={12} />
              </button>
            )}
            <span {...(index === marked ? { ref: line, className: 'at' } : {})}>
              {quieted(lines[index] ?? '')}
              {isFolded && end !== undefined ? (
                <span className="mute">
                  {' '}
                  … {end - index - 1} lines … {(lines[end] ?? '').trim()}
                </span>
              ) : null}
            </span>
          </Fragment>
        );
      })}
    </pre>
  );
}

/** Arrows go from one handle to the next; left folds, right unfolds. */
function moveAlong(event: KeyboardEvent<HTMLElement>, fold: (line: number, isFolded: boolean) => void): void {
  const { target, currentTarget, key } = event;
  if (!(target instanceof HTMLButtonElement)) return;
  if (key === 'ArrowLeft' || key === 'ArrowRight') fold(Number(target.dataset.line), key === 'ArrowLeft');
  else if (key === 'ArrowDown' || key === 'ArrowUp') {
    const handles = [...currentTarget.querySelectorAll('button')];
    handles[handles.indexOf(target) + (key === 'ArrowDown' ? 1 : -1)]?.focus();
  } else return;
  event.preventDefault();
}

const MOST_LINES = 4000;

function lineOf(text: string, path: string): number | undefined {
  try {
    return lineAt(JSON.parse(text), path);
  } catch {
    // A body that is no JSON has no fields.
    return undefined;
  }
}

interface LaidOut {
  readonly lines: readonly string[];
  /** Lines that open an object or a list, with the line that closes it. */
  readonly ends: ReadonlyMap<number, number>;
}

function laidOut(text: string): LaidOut {
  const pretty = prettied(text);
  const all = (pretty ?? text).split('\n');
  const lines = all.length <= MOST_LINES ? all : [...all.slice(0, MOST_LINES), `… ${all.length - MOST_LINES} more lines`];
  return { lines, ends: pretty === undefined ? new Map() : endsOf(lines) };
}

/** In pretty JSON a line that ends in a bracket opens, and one that begins with one closes the last that was opened. */
function endsOf(lines: readonly string[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (const [index, line] of lines.entries()) {
    const closed = /^\s*[}\]]/.test(line) ? open.pop() : undefined;
    if (closed !== undefined) ends.set(closed, index);
    if (/[{[]$/.test(line)) open.push(index);
  }
  return ends;
}

function shownLines(count: number, ends: ReadonlyMap<number, number>, folded: ReadonlySet<number>): number[] {
  const shown: number[] = [];
  for (let index = 0; index < count; index += 1) {
    shown.push(index);
    if (folded.has(index)) index = ends.get(index) ?? index;
  }
  return shown;
}

function prettied(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}

/** Keys are quieter than values. */
function quieted(line: string): JSX.Element {
  const found = /^(\s*)("(?:[^"\\]|\\.)*")(:\s?)(.*)$/.exec(line);
  if (found === null) return <b className="j-s">{line}</b>;
  const [, space, key, colon, rest] = found;
  return (
    <>
      {space}
      <span className="j-k">{key}</span>
      <span className="j-p">{colon}</span>
      <b className="j-s">{rest}</b>
    </>
  );
}
