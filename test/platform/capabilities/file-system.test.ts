import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { editFile, glob, grep, list, readFile, writeFile } from '../../../src/platform/capabilities/file-system/tools.ts';
import type { Tool, ToolOutcome } from '../../../src/platform/tools/tool.ts';
import { needing, ON_WINDOWS } from '../../support/needs.ts';
import { callTool, temporaryWorkspace } from '../../support/tool-call.ts';

const SWAP_FOLDER = fileURLToPath(new URL('programs/swap-folder.ts', import.meta.url));
const failure = { error: expect.any(String) };

function calls(workspace: string): (tool: Tool, input: JsonObject) => Promise<ToolOutcome> {
  return (tool, input) => callTool(tool, input, { workspace });
}

describe('files of the workspace', () => {
  it('are written with their folders, read, edited and listed', async () => {
    const call = calls(temporaryWorkspace());
    expect(await call(writeFile, { path: 'a/b/c.txt', content: 'one\ntwo\nthree' })).toEqual({
      output: { path: 'a/b/c.txt', size_bytes: 13, created: true },
    });
    expect(await call(writeFile, { path: 'a/b/c.txt', content: 'one\ntwo\ntwo\n' })).toMatchObject({ output: { created: false } });
    expect(await call(readFile, { path: './a//b/c.txt', offset: 1, limit: 1 })).toEqual({
      output: { path: './a//b/c.txt', content: 'two', size_bytes: 12, total_lines: 4, truncated: true, next_offset: 2 },
    });
    expect(await call(editFile, { path: 'a/b/c.txt', old_text: 'two', new_text: '2' })).toEqual({
      error: expect.stringContaining('2 times'),
    });
    expect(await call(editFile, { path: 'a/b/c.txt', old_text: 'two', new_text: '$&', replace_all: true })).toEqual({
      output: { path: 'a/b/c.txt', replaced: 2 },
    });
    expect(await call(editFile, { path: 'a/b/c.txt', old_text: 'nine', new_text: '' })).toEqual(failure);
    expect(await call(readFile, { path: 'a/b/c.txt' })).toMatchObject({ output: { content: 'one\n$&\n$&\n' } });
    expect(await call(list, {})).toEqual({ output: { path: '.', entries: [{ name: 'a', type: 'folder' }] } });
    expect(await call(list, { path: 'a/b' })).toEqual({
      output: { path: 'a/b', entries: [{ name: 'c.txt', type: 'file', size_bytes: 10 }] },
    });
  });

  it('are found by pattern and by content', async () => {
    const call = calls(temporaryWorkspace());
    await call(writeFile, { path: 'src/a.ts', content: 'const Foo = 1;\nlet bar;' });
    await call(writeFile, { path: 'src/deep/b.ts', content: 'foo()' });
    await call(writeFile, { path: 'readme.md', content: 'foo' });
    expect(await call(glob, { pattern: 'src/**/*.ts' })).toEqual({
      output: { pattern: 'src/**/*.ts', paths: ['src/a.ts', 'src/deep/b.ts'] },
    });
    expect(await call(grep, { pattern: 'foo', ignore_case: true, glob: '**/*.ts' })).toEqual({
      output: {
        pattern: 'foo',
        matches: [
          { path: 'src/a.ts', line_number: 1, line: 'const Foo = 1;' },
          { path: 'src/deep/b.ts', line_number: 1, line: 'foo()' },
        ],
      },
    });
    expect(await call(grep, { pattern: 'foo', path: 'src/deep' })).toMatchObject({ output: { matches: [{ path: 'src/deep/b.ts' }] } });
    expect(await call(grep, { pattern: '(' })).toEqual(failure);
  });

  it('that are not UTF-8 can be read with marks, and are not changed by an edit', async () => {
    const workspace = temporaryWorkspace();
    const latin = Buffer.from('caf\xe9 au lait', 'latin1');
    writeFileSync(join(workspace, 'latin.txt'), latin);
    const call = calls(workspace);
    expect(await call(readFile, { path: 'latin.txt' })).toEqual({
      output: { path: 'latin.txt', content: 'caf\uFFFD au lait', size_bytes: 12, total_lines: 1, not_utf8: true },
    });
    expect(await call(editFile, { path: 'latin.txt', old_text: 'lait', new_text: 'soja' })).toEqual({
      error: '"latin.txt" is not UTF-8; an edit would change bytes that it does not name.',
    });
    expect(readFileSync(join(workspace, 'latin.txt'))).toEqual(latin);
  });

  it('with a line longer than an answer say so', async () => {
    const call = calls(temporaryWorkspace());
    await call(writeFile, { path: 'long.txt', content: 'x'.repeat(70_000) });
    expect(await call(readFile, { path: 'long.txt' })).toMatchObject({
      output: { content: 'x'.repeat(60_000), truncated: true, line_characters: 70_000 },
    });
  });

  it('keep their right to be run', async () => {
    const workspace = temporaryWorkspace();
    writeFileSync(join(workspace, 'run.sh'), 'a');
    chmodSync(join(workspace, 'run.sh'), 0o755);
    await callTool(writeFile, { path: 'run.sh', content: 'b' }, { workspace });
    expect(statSync(join(workspace, 'run.sh')).mode & 0o777).toBe(0o755);
  });

  it('end a search whose pattern backtracks for ever, while everything else goes on', async () => {
    const workspace = temporaryWorkspace();
    await callTool(writeFile, { path: 'a', content: `${'a'.repeat(50)}b` }, { workspace });
    let ticks = 0;
    const clock = setInterval(() => (ticks += 1), 5);
    const search = callTool(grep, { pattern: '^(a+)+$' }, { workspace, signal: AbortSignal.timeout(500) });
    expect(await search).toEqual({ error: 'The search was given up.' });
    clearInterval(clock);
    expect(ticks).toBeGreaterThan(3);
  });

  it('have limits: large files, binary files, long answers', async () => {
    const workspace = temporaryWorkspace();
    const call = calls(workspace);
    writeFileSync(join(workspace, 'large'), Buffer.alloc(6 * 1024 * 1024, 'a'));
    writeFileSync(join(workspace, 'binary'), Buffer.from([1, 0, 2]));
    writeFileSync(join(workspace, 'long'), `${'x'.repeat(40_000)}\n${'y'.repeat(40_000)}\n`);
    expect(await call(readFile, { path: 'large' })).toEqual({ error: expect.stringContaining('larger') });
    expect(await call(readFile, { path: 'binary' })).toEqual({ error: '"binary" is not text.' });
    expect(await call(readFile, { path: 'long' })).toMatchObject({ output: { next_offset: 1 } });
    expect(await call(writeFile, { path: 'x', content: 'a'.repeat(6 * 1024 * 1024) })).toEqual(failure);
  });
});

it('a second name of a file outside of the workspace is not read', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'abp-outside-'));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  writeFileSync(join(outside, 'secret'), 'hush-hush');
  const workspace = temporaryWorkspace();
  linkSync(join(outside, 'secret'), join(workspace, 'second-name'));
  const call = calls(workspace);
  const answers = [
    await call(readFile, { path: 'second-name' }),
    await call(editFile, { path: 'second-name', old_text: 'hush', new_text: 'x' }),
  ];
  for (const answer of answers) expect(answer).toEqual({ error: '"second-name" is one of several names of a file, which are not opened.' });
  expect(JSON.stringify(await call(grep, { pattern: 'hush' }))).not.toContain('hush-hush');
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('hush-hush');
});

describe('ways out of the workspace', () => {
  /** A workspace with links to a folder and a file beside it. */
  function trap(): { workspace: string; outside: string } {
    const outside = mkdtempSync(join(tmpdir(), 'abp-outside-'));
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
    writeFileSync(join(outside, 'secret'), 'secret');
    const workspace = temporaryWorkspace();
    symlinkSync(outside, join(workspace, 'folder-link'));
    symlinkSync(join(outside, 'secret'), join(workspace, 'file-link'));
    symlinkSync('.', join(workspace, 'self'));
    mkdirSync(join(workspace, 'real'));
    return { workspace, outside };
  }

  it.each([
    '../secret',
    'real/../../secret',
    '..',
    '/etc/passwd',
    'C:\\x',
    'a\0b',
    'folder-link/secret',
    'file-link',
    'self/file-link',
    'x/'.repeat(60),
  ])('are refused to every tool: %j', async (path) => {
    const { workspace, outside } = trap();
    const call = calls(workspace);
    expect(await call(readFile, { path })).toEqual(failure);
    expect(await call(editFile, { path, old_text: 'secret', new_text: 'x' })).toEqual(failure);
    expect(await call(list, { path })).toEqual(failure);
    expect(await call(grep, { pattern: 'secret', path })).toEqual(failure);
    expect(await call(glob, { pattern: '**', path })).toEqual(failure);
    if (!path.startsWith('x/')) expect(await call(writeFile, { path, content: 'x' })).toEqual(failure);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
  });

  it('are not followed by searches', async () => {
    const { workspace } = trap();
    expect(await callTool(grep, { pattern: 'secret' }, { workspace })).toEqual({ output: { pattern: 'secret', matches: [] } });
    expect(await callTool(glob, { pattern: '**' }, { workspace })).toEqual({ output: { pattern: '**', paths: [] } });
  });

  it('stay closed when a link is written over: the link goes, its target stays', async () => {
    const { workspace, outside } = trap();
    const answer = await callTool(writeFile, { path: 'file-link', content: 'mine' }, { workspace });
    expect(answer).toEqual(failure);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
  });

  it('stay closed while a folder is swapped for a link under the tools', async () => {
    const { workspace, outside } = trap();
    const swapper = spawn(process.execPath, [SWAP_FOLDER, join(workspace, 'swap'), outside], { stdio: 'inherit' });
    onTestFinished(() => void swapper.kill('SIGKILL'));
    await once(swapper, 'spawn');
    const deadline = performance.now() + 2000;
    let linked = 0;
    while (performance.now() < deadline) {
      const read = await callTool(readFile, { path: 'swap/secret' }, { workspace });
      if (JSON.stringify(read).includes('link')) linked += 1;
      expect(read).toEqual(failure);
      await callTool(writeFile, { path: 'swap/planted', content: 'x' }, { workspace });
    }
    swapper.kill('SIGKILL');
    if (swapper.exitCode === null) await once(swapper, 'exit');
    expect(linked).toBeGreaterThan(0);
    expect(await callTool(list, {}, { workspace: outside })).toMatchObject({ output: { entries: [{ name: 'secret' }] } });
  });

  it.skipIf(ON_WINDOWS !== undefined)(needing('do not hang on a pipe', ON_WINDOWS), async () => {
    const workspace = temporaryWorkspace();
    execFileSync('mkfifo', [join(workspace, 'pipe')]);
    expect(await callTool(readFile, { path: 'pipe' }, { workspace })).toEqual({ error: '"pipe" is not a file.' });
  });
});
