import { describe, expect, it } from 'vitest';
import { systemCallFilter } from './system-calls.ts';

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

interface Call {
  readonly machine: number;
  readonly number: number;
  readonly argument?: number;
}

/** What the kernel answers: the five instructions of classic BPF that a filter may use here. */
function judge(filter: Buffer, { machine, number, argument = 0 }: Call): number {
  const data: Readonly<Record<number, number>> = { 0: number, 4: machine, 16: argument };
  let loaded = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const value = filter.readUInt32LE(at + 4);
    const jump = (holds: boolean): void => {
      at += 8 * filter.readUInt8(at + (holds ? 2 : 3));
    };
    const code = filter.readUInt16LE(at);
    if (code === 0x06) return value;
    if (code === 0x20) loaded = data[value] ?? Number.NaN;
    else if (code === 0x15) jump(loaded === value);
    else if (code === 0x35) jump(loaded >= value);
    else if (code === 0x45) jump((loaded & value) !== 0);
    else throw new Error(`no instruction of ours: ${code}`);
  }
  throw new Error('the filter has no answer');
}

const MACHINES = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;

function answer(arch: keyof typeof MACHINES, number: number, argument?: number): number {
  const call = { machine: MACHINES[arch], number, ...(argument === undefined ? {} : { argument }) };
  return judge(systemCallFilter(arch) ?? Buffer.alloc(0), call);
}

describe('the filter of system calls', () => {
  it.each([
    ['read', 'x64', 0],
    ['execve, by which the interpreter is started', 'x64', 59],
    ['mmap', 'x64', 9],
    ['socketpair, which event loops wake themselves with', 'x64', 53],
    ['read', 'arm64', 63],
    ['execve, by which the interpreter is started', 'arm64', 221],
  ] as const)('lets %s pass on %s', (_, arch, number) => {
    expect(answer(arch, number)).toBe(ALLOW);
  });

  it.each([
    ['fork', 'x64', 57],
    ['vfork', 'x64', 58],
    ['socket', 'x64', 41],
    ['unshare', 'x64', 272],
    ['ptrace', 'x64', 101],
    ['memfd_create', 'x64', 319],
    ['io_uring_setup', 'x64', 425],
    ['read of the x32 machine', 'x64', 0x40000000],
    ['socket', 'arm64', 198],
    ['unshare', 'arm64', 97],
    ['ptrace', 'arm64', 117],
    ['shmget', 'arm64', 194],
  ] as const)('refuses %s on %s', (_, arch, number) => {
    expect(answer(arch, number)).toBe(EPERM);
  });

  it.each([
    ['x64', 56],
    ['arm64', 220],
  ] as const)('lets clone make threads and no processes on %s', (arch, clone) => {
    const THREAD_OF_GLIBC = 0x3d0f00;
    const FORK_OF_GLIBC = 0x1200011;
    const NEW_USER_NAMESPACE = 0x10000000;
    expect([THREAD_OF_GLIBC, FORK_OF_GLIBC, NEW_USER_NAMESPACE].map((flags) => answer(arch, clone, flags))).toEqual([ALLOW, EPERM, EPERM]);
    expect(answer(arch, 435)).toBe(ENOSYS);
  });

  it('ends a process that calls as another machine', () => {
    const I386 = 0x40000003;
    expect(judge(systemCallFilter('x64') ?? Buffer.alloc(0), { machine: I386, number: 3 })).toBe(KILL);
  });

  it('is not there for a machine whose numbers are not known', () => {
    expect(systemCallFilter('riscv64')).toBeUndefined();
  });
});
