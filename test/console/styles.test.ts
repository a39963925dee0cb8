import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const SOURCE = join(import.meta.dirname, '..', '..', 'console', 'src');

const files = (end: RegExp): readonly (readonly [string, string])[] =>
  readdirSync(SOURCE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && end.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path.slice(SOURCE.length + 1), readFileSync(path, 'utf8')]);

/** Names that are made of two parts in the code: a word and a fate, a column, a pane or a side. */
const MADE = /^(?:[fgbt]-(?:exact|renamed|emulated|dropped|refused)|(?:no|one|shows)-[\w-]+|c-[\w-]+|u-[\w-]+|uplot|cm-[\w-]+)$/;

it('every class of the style sheets stands in a component, so that nothing is left of what went', () => {
  const code = files(/\.tsx?$/)
    .map(([, text]) => text)
    .join('\n');
  const words = new Set(code.match(/[\w-]+/g));
  const unused = files(/\.css$/).flatMap(([path, text]) => {
    const bare = text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/url\([^)]*\)/g, '');
    const selectors = bare.match(/[^{};]+(?=\{)/g) ?? [];
    const classes = new Set(selectors.filter((one) => !one.trim().startsWith('@')).flatMap((one) => one.match(/\.[a-zA-Z][\w-]*/g) ?? []));
    return [...classes]
      .map((name) => name.slice(1))
      .filter((name) => !words.has(name) && !MADE.test(name))
      .map((name) => `${path}: .${name}`);
  });
  expect(unused).toEqual([]);
});
