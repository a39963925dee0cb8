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

it('gives a command no other environment than its own', async () => {
  const { stdout } = await runCommand(node, ['-p', 'Object.keys(process.env).sort().join()'], { env: { ONLY: '1' } });
  expect(stdout.trim()).toBe('ONLY');
});
