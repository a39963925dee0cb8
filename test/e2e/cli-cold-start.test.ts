import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runCommand } from '../../src/base/subprocess.ts';
import { ABP_BIN } from '../support/built.ts';

const SOURCES = fileURLToPath(new URL('../../bin/abp.js', import.meta.url));

/** Reports every module that is loaded on the standard error. */
const trace = `import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context); } });`;

async function loadedBy(...argv: string[]): Promise<string[]> {
  const tracing = `--import=data:text/javascript,${encodeURIComponent(trace)}`;
  const { code, stderr } = await runCommand(process.execPath, [tracing, ...argv], { env: { PATH: process.env.PATH } });
  expect(code).toBe(0);
  return stderr.split('\n').filter((url) => url.startsWith('file:'));
}

function packages(urls: readonly string[]): string[] {
  const names = urls.flatMap((url) => /\/node_modules\/([^./][^/]*)\//.exec(url)?.[1] ?? []);
  return [...new Set(names)].sort();
}

function rooms(urls: readonly string[]): string[] {
  return [...new Set(urls.flatMap((url) => /\/src\/([^/]+)\//.exec(url)?.[1] ?? []))].sort();
}

it('abp --help loads no command and nothing but commander and picocolors from outside', async () => {
  const urls = await loadedBy(SOURCES, '--help');
  expect(urls.some((url) => url.includes('/src/cli/main.'))).toBe(true);
  expect(urls.filter((url) => url.includes('/cli/commands/'))).toEqual([]);
  expect(rooms(urls)).toEqual(['base', 'cli', 'contract']);
  expect(packages(urls)).toEqual(['commander', 'picocolors']);
});

it('abp --help of the package loads nothing else from outside', async () => {
  expect(packages(await loadedBy(ABP_BIN, '--help'))).toEqual(['commander', 'picocolors']);
});

it('the help of one command loads that command only', async () => {
  const urls = await loadedBy(SOURCES, 'serve', '--help');
  expect(urls.flatMap((url) => /\/cli\/commands\/(.+)$/.exec(url)?.[1] ?? [])).toEqual(['serve.ts']);
  expect(rooms(urls)).toEqual(['base', 'cli', 'contract']);
});
