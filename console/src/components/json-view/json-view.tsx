import { Fragment, type JSX } from 'react';
import './json-view.css';

/** Text as it came, pretty where it is JSON. It has no syntax colours: colour in a body means fate. */
export function JsonView({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys
    <pre className="json-view" role="region" aria-label={label} tabIndex={0}>
      {lines(text).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
        <Fragment key={index}>
          <i aria-hidden="true">{index + 1}</i>
          <span>{marked(line)}</span>
        </Fragment>
      ))}
    </pre>
  );
}

const MOST_LINES = 4000;

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
function marked(line: string): JSX.Element {
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
