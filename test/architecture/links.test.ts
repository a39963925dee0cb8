import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { projectPaths, readSource, type SourceFile } from './source-files.ts';

/** The name a heading has in a link. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');

/** Links of a page that lead nowhere: to a file, a folder or a heading that is not there. */
function brokenLinks(page: SourceFile, paths: readonly string[], read: (path: string) => string): string[] {
  const links = [...page.text.matchAll(/\]\(([^)\s]+)\)/g)].map((found) => found[1] ?? '');
  return links
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [file, heading] = link.split('#');
      const target = file ? posix.join(posix.dirname(page.path), file).replace(/\/$/, '') : page.path;
      if (!paths.includes(target)) return !paths.some((path) => path.startsWith(`${target}/`));
      const headings = [...read(target).matchAll(/^#+ (.*)$/gm)].map((found) => anchor(found[1] ?? ''));
      return heading !== undefined && !headings.includes(heading);
    })
    .map((link) => `${page.path}: ${link}`);
}

it('every link between pages leads somewhere', () => {
  const paths = projectPaths();
  const pages = paths.filter((path) => path.endsWith('.md') && !path.includes('/fixtures/')).map(readSource);
  expect(pages.flatMap((page) => brokenLinks(page, paths, (path) => readSource(path).text))).toEqual([]);
});

it('a broken link is caught', () => {
  const page = {
    path: 'docs/a.md',
    text: '[a](../b.md) [b](../b.md#one-two) [c](../b.md#three) [d](d.md) [e](../docs) [f](https://example.test/x)',
  };
  expect(brokenLinks(page, ['docs/a.md', 'b.md'], () => '# B\n\n## One, two\n')).toEqual(['docs/a.md: ../b.md#three', 'docs/a.md: d.md']);
});
