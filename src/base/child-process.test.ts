import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { startProcess } from './child-process.ts';

it('a long line of the error output is one line, so that what is searched in it is not cut in two', async () => {
  const program = "process.stderr.write('x'.repeat(64 * 1024 - 5) + ' a-secret-of-somebody ' + 'y'.repeat(1024 * 1024) + '\\nnext\\n')";
  const lines: string[] = [];
  const spec = { command: process.execPath, args: ['-e', program], env: {}, cwd: tmpdir(), stdin: 'closed', mode: 'pipe' } as const;
  const child = await startProcess(spec, (line, source) => {
    if (source === 'stderr') lines.push(line);
  });
  expect(await child.exit).toEqual({ code: 0, signal: null });
  expect(lines.map((line) => [line.length, line.includes('a-secret-of-somebody')])).toEqual([
    [64 * 1024 - 5 + 22 + 1024 * 1024, true],
    [4, false],
  ]);
});
