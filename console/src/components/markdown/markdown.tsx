import { Fragment, type JSX, type ReactNode } from 'react';
import './markdown.css';

const INLINE = /(`[^`\n]+`|\*\*[^*\n]+\*\*)/;

/** Code and bold inside a line. Everything else is text: no HTML, no images, no links that open by themselves. */
function inline(text: string): ReactNode {
  return text.split(INLINE).map((part, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
    const key = <Fragment key={index}>{part}</Fragment>;
    if (part.startsWith('`') && part.length > 2) return <code key={key.key}>{part.slice(1, -1)}</code>;
    if (part.startsWith('**') && part.length > 4) return <b key={key.key}>{part.slice(2, -2)}</b>;
    return key;
  });
}

function block(text: string, key: number): JSX.Element {
  const heading = /^(#{1,6})\s+(.*)$/.exec(text);
  if (heading !== null) {
    return (
      <p key={key} className="b">
        {inline(heading[2] ?? '')}
      </p>
    );
  }
  const items = text.split('\n');
  if (items.every((line) => /^\s*([-*]|\d+\.)\s/.test(line))) {
    return (
      <ul key={key}>
        {items.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an item is its place
          <li key={index}>{inline(line.replace(/^\s*([-*]|\d+\.)\s/, ''))}</li>
        ))}
      </ul>
    );
  }
  return <p key={key}>{inline(text)}</p>;
}

/** What a model wrote, with the little of Markdown that helps reading. */
export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const parts = text.split(/^```[^\n]*\n([\s\S]*?)(?:^```|$(?![\s\S]))/m);
  return (
    <div className="markdown">
      {parts.map((part, index) => {
        if (index % 2 === 1) {
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
            <pre key={index} className="code">
              {part}
            </pre>
          );
        }
        return part
          .split(/\n{2,}/)
          .filter((paragraph) => paragraph.trim() !== '')
          .map((paragraph, at) => block(paragraph.trim(), index * 1000 + at));
      })}
    </div>
  );
}
