import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { needing } from '../../test/support/needs.ts';
import { startProcess } from '../base/child-process.ts';
import { barrierOf } from './barrier.ts';
import { Confiner, isObstacle } from './confiner.ts';
import { PERL, wordFor } from './starter.ts';

const found = await new Confiner().equipment();
const obstacle = isObstacle(found) ? found.reason : existsSync(PERL) ? undefined : 'there is no Perl here';

/** The fourth descriptor is the folder that `ls` reads. */
const LOOK = 'ls /proc/self/fd; grep SigIgn /proc/$$/status; pwd; printf "[%s]" "$@" "$ODD" "$NONE"';

describe('the word for a starter', () => {
  it.each([
    ['an argument', { args: ['sh', 'a\0-c'] }],
    ['a variable', { env: { A: '1\0LD_PRELOAD=x' } }],
    ['the folder', { cwd: '/a\0b' }],
  ])('is not made where %s holds a NUL', (_, odd) => {
    expect(() => wordFor({ cwd: '/', file: '/bin/sh', args: ['sh'], env: {}, ...odd })).toThrow('must not contain a NUL');
  });
});

describe.skipIf(obstacle !== undefined)(needing('a program in a room', obstacle), () => {
  it.each(['perl', 'node'] as const)(
    'begins as it was asked for when %s starts it: arguments, variables, folder, signals, descriptors',
    async (starter) => {
      if (isObstacle(found)) throw new Error(found.reason);
      const equipment = { ...found, starter };
      const folder = mkdtempSync(join(tmpdir(), 'abp-starter-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      chmodSync(folder, 0o755);
      const workspace = join(folder, 'a folder');
      mkdirSync(workspace);
      if (equipment.identity !== undefined) chownSync(workspace, equipment.identity.uid, equipment.identity.gid);
      const room = { workspace: { source: workspace, at: workspace, writable: true }, places: [], ports: [8088, 3128] };
      const lines: string[] = [];
      const child = await startProcess(
        {
          command: '/bin/sh',
          args: ['-c', LOOK, 'sh', 'a b', '', 'ü "x" $HOME\n', '-e'],
          env: { PATH: '/usr/bin:/bin', ODD: 'a=b\nc', NONE: '' },
          cwd: workspace,
          stdin: 'closed',
          mode: 'pipe',
          barrier: barrierOf({ equipment, room, connected: (_, socket) => socket.destroy() }),
        },
        (line, source) => lines.push(source === 'stderr' ? `stderr: ${line}` : line),
      );
      expect(await child.exit).toEqual({ code: 0, signal: null });
      expect(lines.join('\n')).toBe(`0\n1\n2\n3\nSigIgn:\t0000000000000000\n${workspace}\n[a b][][ü "x" $HOME\n][-e][a=b\nc][]`);
    },
  );
});
