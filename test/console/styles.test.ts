import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const SOURCE = join(import.meta.dirname, '..', '..', 'console', 'src');

const files = (end: RegExp): readonly (readonly [string, string])[] =>
  readdirSync(SOURCE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && end.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path.slice(SOURCE.length + 1), readFileSync(path, 'utf8')]);

interface Rule {
  readonly classes: readonly string[];
  readonly body: string;
}

/** The innermost rules of a style sheet: the classes they are for, and what they say. */
function rulesIn(text: string): readonly Rule[] {
  const bare = text.replaceAll(/\/\*.*?\*\//gs, '');
  return [...bare.matchAll(/([^{};]+)\{([^{}]*)\}/g)].map(([, selector = '', body = '']) => ({
    classes: (selector.match(/\.[a-zA-Z][\w-]*/g) ?? []).map((name) => name.slice(1)),
    body,
  }));
}

/** Outlines take the colour of what they stand in, and rows of a list that of what the page says about them. */
const FREE: ReadonlySet<string> = new Set(['ic', 'dl-row']);
const COLOURS = /(?:^|[;\s])(?:color|background|background-color|border-color|fill|stroke):(?!\s*(?:none|inherit|transparent))/;

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

it('no page colours a part that a component owns, because its colours say something: a slip that does not verify once stayed green', () => {
  const isPage = ([path]: readonly [string, string]): boolean => path.startsWith('pages/');
  const written = new Set(
    files(/\.tsx$/)
      .filter(isPage)
      .flatMap(([, text]) => text.match(/[\w-]+/g) ?? []),
  );
  const sheets = files(/\.css$/);
  const owned = new Set(
    sheets.filter(([path]) => path.startsWith('components/')).flatMap(([, text]) => rulesIn(text).flatMap(({ classes }) => classes)),
  );
  expect(owned).toContain('stamp');
  const taken = sheets.filter(isPage).flatMap(([path, text]) =>
    rulesIn(text)
      .filter(({ body }) => COLOURS.test(body))
      .flatMap(({ classes }) => classes.filter((name) => owned.has(name) && !written.has(name) && !FREE.has(name)))
      .map((name) => `${path}: .${name}`),
  );
  expect(taken).toEqual([]);
});
