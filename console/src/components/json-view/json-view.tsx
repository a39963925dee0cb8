import { Fragment, type JSX, useEffect, useRef } from 'react';
import { lineAt } from '../../base/json-path.ts';
import './json-view.css';

interface JsonViewProps {
  readonly text: string;
  readonly label: string;
  /** The path of a field that is looked at: its line is marked and shown. */
  readonly at?: string | undefined;
}

/** Text as it came, pretty where it is JSON. It has no syntax colours: colour in a body means fate. */
export function JsonView({ text, label, at }: JsonViewProps): JSX.Element {
  const marked = at === undefined ? undefined : lineOf(text, at);
  const line = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (marked !== undefined) line.current?.scrollIntoView({ block: 'center' });
  }, [marked]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys
    <pre className="json-view" role="region" aria-label={label} tabIndex={0}>
      {lines(text).map((words, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
        <Fragment key={index}>
          <i aria-hidden="true">{index + 1}</i>
          {index === marked ? (
            <span ref={line} className="at">
              {quieted(words)}
            </span>
          ) : (
            <span>{quieted(words)}</span>
          )}
        </Fragment>
      ))}
    </pre>
  );
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

function lines(text: string): string[] {
  const all = pretty(text).split('\n');
  return all.length <= MOST_LINES ? all : [...all.slice(0, MOST_LINES), `… ${all.length - MOST_LINES} more lines`];
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
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
