import { spawnSync } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { needing } from '../../test/support/needs.ts';
import { ControlGroup, candidates, groupPlaces } from './control-groups.ts';

const mount = (at: string, type: string, options: string, root = '/'): string =>
  `31 23 0:26 ${root} ${at} rw,nosuid - ${type} ${type} rw,${options}`;

describe('the folders that the tables of a process name', () => {
  it.each([
    [
      'one folder per controller',
      [mount('/sys/fs/cgroup/memory', 'cgroup', 'memory'), mount('/sys/fs/cgroup/unified', 'cgroup2', '')],
      ['4:memory:/jobs/7', '0::/'],
      [
        { version: 1, folder: '/sys/fs/cgroup/memory/jobs/7' },
        { version: 2, folder: '/sys/fs/cgroup/unified' },
      ],
    ],
    [
      'one folder for all',
      [mount('/sys/fs/cgroup', 'cgroup2', 'nsdelegate')],
      ['0::/user.slice/user@1000.service/app.slice/abp.service'],
      [
        { version: 2, folder: '/sys/fs/cgroup/user.slice/user@1000.service/app.slice/abp.service' },
        { version: 2, folder: '/sys/fs/cgroup/user.slice/user@1000.service/app.slice' },
      ],
    ],
    [
      'a container that sees a part of the tree',
      [mount('/sys/fs/cgroup/memory', 'cgroup', 'memory', '/docker/abc')],
      ['3:cpu,memory:/docker/abc'],
      [{ version: 1, folder: '/sys/fs/cgroup/memory' }],
    ],
    ['none', ['22 1 8:1 / / rw - ext4 /dev/sda rw'], ['0::/'], []],
  ])('%s', (_, mounts, members, expected) => {
    expect(candidates('memory', mounts.join('\n'), members.join('\n'))).toEqual(expected);
  });
});

const places = groupPlaces();
const none = places.memory === undefined || places.pids === undefined ? 'no control group can be made here' : undefined;

describe.skipIf(none !== undefined)(needing('a control group', none), () => {
  let made = 0;
  const inGroup = (limits: Parameters<typeof ControlGroup.make>[2], ...command: string[]) => {
    made += 1;
    const group = ControlGroup.make(places, `test-${made}`, limits);
    onTestFinished(() => group.remove());
    const [file = '', ...args] = group.entering(command);
    return { ...spawnSync(file, args, { encoding: 'utf8' }), stopped: group.stopped() };
  };

  it('ends what takes more memory than all of it may have, and counts that', () => {
    const script =
      'const held = []; for (let at = 0; at < 40; at += 1) held.push(Buffer.alloc(16 * 1024 * 1024, 1)); console.log(held.length)';
    const { stdout, stopped } = inGroup({ memoryBytes: 192 * 1024 * 1024 }, process.execPath, '-e', script);
    expect(stdout).toBe('');
    expect(stopped).toEqual({ processes: 0, memory: expect.any(Number) });
    expect(stopped.memory).toBeGreaterThan(0);
  });

  it('refuses processes beyond its number, and counts that', () => {
    const { status, stopped } = inGroup({ processes: 5 }, '/bin/sh', '-c', 'for at in 1 2 3 4 5 6 7 8; do sleep 1 & done; wait');
    expect(status).not.toBe(0);
    expect(stopped.processes).toBeGreaterThan(0);
  });

  it('starts what keeps to it as if there were none', () => {
    const { stdout, stopped } = inGroup({ processes: 50, memoryBytes: 1024 ** 3 }, '/bin/echo', 'a b', '$HOME');
    expect([stdout, stopped]).toEqual(['a b $HOME\n', { processes: 0, memory: 0 }]);
  });
});
