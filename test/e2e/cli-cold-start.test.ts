import { expect, it } from 'vitest';
import { runAbp } from '../support/run-abp.ts';

/** Reports every module that is loaded on the standard error. */
const trace = `import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context); } });`;

async function loadedBy(...argv: string[]): Promise<string[]> {
  const { code, err } = await runAbp(argv, { env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(trace)}` } });
  expect(code).toBe(0);
  return err.split('\n').filter((url) => url.startsWith('file:'));
}

function rooms(urls: readonly string[]): string[] {
  return [...new Set(urls.flatMap((url) => /\/src\/([^/]+)\//.exec(url)?.[1] ?? []))].sort();
}

it('abp --help loads no command and nothing but commander and picocolors from outside', async () => {
  const urls = await loadedBy('--help');
  expect(urls.some((url) => url.includes('/src/cli/main.'))).toBe(true);
  expect(urls.filter((url) => url.includes('/cli/commands/'))).toEqual([]);
  expect(rooms(urls)).toEqual(['base', 'cli', 'contract']);
  const packages = urls.flatMap((url) => /\/node_modules\/([^/]+)\//.exec(url)?.[1] ?? []);
  expect([...new Set(packages)].sort()).toEqual(['commander', 'picocolors']);
});

it('the help of one command loads that command only', async () => {
  const urls = await loadedBy('serve', '--help');
  expect(urls.flatMap((url) => /\/cli\/commands\/(.+)$/.exec(url)?.[1] ?? [])).toEqual(['serve.ts']);
  expect(rooms(urls)).toEqual(['base', 'cli', 'contract']);
});
