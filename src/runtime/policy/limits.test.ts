import { describe, expect, it } from 'vitest';
import type { Equipment } from '../../confinement/equipment.ts';
import type { RunLimits } from '../../contract/runs/run-limits.ts';
import { joinLimits, type LimitMeans, limitEnforcement, reserveRemark, roomLimits } from './limits.ts';

const EMPTY = Buffer.alloc(0);
const sandbox: Equipment = {
  bwrap: '/usr/bin/bwrap',
  prlimit: '/usr/bin/prlimit',
  setpriv: '/usr/bin/setpriv',
  node: '/usr/bin/node',
  filters: { online: EMPTY, offline: EMPTY },
  disablesUserNamespaces: true,
  starter: 'node',
  arch: 'x64',
};
const groups = { memory: { version: 2, folder: '/g' }, pids: { version: 2, folder: '/g' } } as const;
const means: LimitMeans = { sandbox, staged: true, external: false, groups };
const obstacle = { reason: 'bubblewrap (bwrap) is not installed', remedy: 'Install it.' };

function judged(limits: RunLimits, part: Partial<LimitMeans> = {}): string[] {
  const { rules, unheld } = limitEnforcement(limits, { ...means, ...part });
  return [
    ...rules.map(({ rule, by, detail }) => `${rule} by ${by}: ${detail}`),
    ...unheld.map(({ rule, reason }) => `${rule} unheld: ${reason}`),
  ];
}

describe('who holds a limit', () => {
  it.each<[string, RunLimits, Partial<LimitMeans>, string]>([
    ['processes, in a group', { processes: 9 }, {}, 'limits.processes: 9 by os: a control group of the kernel'],
    ['processes, without groups', { processes: 9 }, { groups: {} }, 'limits.processes: 9 by os: a limit of the user namespace'],
    [
      'processes of a backplane of root, without groups',
      { processes: 9 },
      { groups: {}, sandbox: { ...sandbox, identity: { uid: 1, gid: 1 } } },
      'limits.processes: 9 by os: a limit of each process; other processes of the same user count too',
    ],
    ['memory, in a group', { memoryMb: 64 }, {}, 'limits.memoryMb: 64 by os: a control group of the kernel; swap counts'],
    [
      'memory, without groups',
      { memoryMb: 64 },
      { groups: {} },
      'limits.memoryMb: 64 unheld: memory of all processes together needs a control group, and none can be made here. Limit each process with processMemoryMb, or run the backplane as a systemd service',
    ],
    [
      'memory, without groups, by the word of the operator',
      { memoryMb: 64 },
      { groups: {}, external: true },
      'limits.memoryMb: 64 by external: by the word of the operator',
    ],
    [
      'memory of each process',
      { processMemoryMb: 64 },
      { groups: {} },
      'limits.processMemoryMb: 64 by os: a limit of each process; several may have as much each',
    ],
    [
      'memory of each process without a sandbox',
      { processMemoryMb: 64 },
      { sandbox: obstacle },
      'limits.processMemoryMb: 64 unheld: bubblewrap (bwrap) is not installed. Install it.',
    ],
    [
      'disk of a staged copy, without a sandbox',
      { diskMb: 5 },
      { sandbox: undefined },
      'limits.diskMb: 5 by backplane: the staged copy is measured while the agent works, and the run ended where it has grown beyond',
    ],
    [
      'disk of the folder itself',
      { diskMb: 5 },
      { staged: false },
      'limits.diskMb: 5 unheld: only a staged copy is measured. Run with --staged',
    ],
  ])('%s', (_, limits, part, expected) => {
    expect(judged(limits, part)).toEqual([expected]);
  });
});

it('of two limits the lower one counts', () => {
  expect(joinLimits({ processes: 5, memoryMb: 100 }, { processes: 9, memoryMb: 50, diskMb: 1 })).toEqual({
    processes: 5,
    memoryMb: 50,
    diskMb: 1,
  });
});

it('processes inherit what no group holds for all of them', () => {
  const limits = { processes: 9, memoryMb: 64, processMemoryMb: 32, diskMb: 2 };
  const MIB = 1024 * 1024;
  expect(roomLimits(limits, groups)).toEqual({ memoryBytes: 32 * MIB, fileBytes: 2 * MIB });
  expect(roomLimits(limits, {})).toEqual({ processes: 9, memoryBytes: 32 * MIB, fileBytes: 2 * MIB });
});

it('an agent that reserves much gets it, unless a limit was set', () => {
  const GIB = 1024 ** 3;
  expect(roomLimits({}, {})).toEqual({ memoryBytes: 4 * GIB });
  expect(roomLimits({}, {}, 1024)).toEqual({ memoryBytes: 4 * GIB });
  expect(roomLimits({}, {}, 8192)).toEqual({ memoryBytes: 8 * GIB });
  expect(roomLimits({ processMemoryMb: 2048 }, {}, 8192)).toEqual({ memoryBytes: 2 * GIB });
  const row = { displayName: 'Large', reservesMb: 8192 };
  expect(reserveRemark({ processMemoryMb: 2048 }, row)).toBe(
    'Large reserves 8192 MiB for a process when it starts, and may not start with a limit of 2048 MiB',
  );
  expect([reserveRemark({}, row), reserveRemark({ processMemoryMb: 8192 }, row)]).toEqual([undefined, undefined]);
});
