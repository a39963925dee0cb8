import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from './subprocess.ts';

const node = process.execPath;

it('keeps what a command printed and how it ended', async () => {
  const script = "process.stdout.write('out'); process.stderr.write('err'); process.exitCode = 3";
  expect(await runCommand(node, ['-e', script])).toEqual({ code: 3, signal: null, stdout: 'out', stderr: 'err' });
});

it('hands over an input and then its end', async () => {
  const script = "process.stdin.setEncoding('utf8').on('data', (text) => process.stdout.write(text.toUpperCase()))";
  expect((await runCommand(node, ['-e', script], { input: 'abc' })).stdout).toBe('ABC');
});

it('survives a command that does not read its input', async () => {
  expect((await runCommand(node, ['-e', 'process.exit(0)'], { input: 'x'.repeat(1_000_000) })).code).toBe(0);
});

it('ends a command that takes too long', async () => {
  expect(await runCommand(node, ['-e', 'setInterval(() => {}, 1000)'], { timeoutMs: 200 })).toMatchObject({
    code: null,
    signal: 'SIGKILL',
  });
});

it('rejects with the reason why a command cannot be started', async () => {
  await expect(runCommand('no-such-command-anywhere', [])).rejects.toMatchObject({ code: 'ENOENT' });
});

it('says that a command is missing also when a folder of PATH cannot be entered', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'abp-path-'));
  const closed = join(folder, 'closed');
  mkdirSync(closed, { mode: 0o000 });
  try {
    const missing = runCommand('no-such-command-anywhere', [], { env: { PATH: `${closed}${delimiter}${process.env.PATH}` } });
    await expect(missing).rejects.toMatchObject({ code: 'ENOENT' });
  } finally {
    // Only root removes a folder that it cannot enter.
    chmodSync(closed, 0o700);
    rmSync(folder, { recursive: true, force: true });
  }
});

it('says that a command may not be started when it is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'abp-path-'));
  try {
    writeFileSync(join(folder, 'locked'), '#!/bin/sh\n', { mode: 0o644 });
    await expect(runCommand('locked', [], { env: { PATH: folder } })).rejects.toMatchObject({ code: 'EACCES' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('gives a command no other environment than its own', async () => {
  const { stdout } = await runCommand(node, ['-p', 'Object.keys(process.env).sort().join()'], { env: { ONLY: '1' } });
  expect(stdout.trim()).toBe('ONLY');
});
