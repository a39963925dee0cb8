import { describe, expect, it } from 'vitest';
import { type FilterKind, systemCallFilter } from './system-calls.ts';

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

interface Call {
  readonly machine: number;
  readonly number: number;
  readonly argument?: number;
  readonly second?: number;
}

/** What the kernel answers: the five instructions of classic BPF that a filter may use here. */
function judge(filter: Buffer, { machine, number, argument = 0, second = 0 }: Call): number {
  const data: Readonly<Record<number, number>> = { 0: number, 4: machine, 16: argument, 24: second };
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

type Arguments = Pick<Call, 'argument' | 'second'>;

function answerOf(kind: FilterKind, arch: keyof typeof MACHINES, number: number, given: Arguments = {}): number {
  return judge(systemCallFilter(arch, kind) ?? Buffer.alloc(0), { machine: MACHINES[arch], number, ...given });
}

const answer = (arch: keyof typeof MACHINES, number: number, argument = 0): number => answerOf('code', arch, number, { argument });

describe('the filter for code', () => {
  it.each([
    ['read', 'x64', 0],
    ['execve, by which the interpreter is started', 'x64', 59],
    ['mmap', 'x64', 9],
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

  it.each([
    ['code', 'x64', 53],
    ['programs', 'x64', 53],
    ['offline programs', 'arm64', 199],
  ] as const)(
    'lets %s on %s make pairs of sockets that event loops wake themselves with, and of no other family',
    (kind, arch, socketpair) => {
      const [UNIX, IPV4, NETLINK, TIPC, VSOCK] = [1, 2, 16, 30, 40];
      const EAFNOSUPPORT = 0x00050061;
      expect(answerOf(kind, arch, socketpair, { argument: UNIX })).toBe(ALLOW);
      const others = [IPV4, NETLINK, TIPC, VSOCK].map((argument) => answerOf(kind, arch, socketpair, { argument }));
      expect(others).toEqual([EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT]);
    },
  );

  it('ends a process that calls as another machine', () => {
    const I386 = 0x40000003;
    expect(judge(systemCallFilter('x64', 'code') ?? Buffer.alloc(0), { machine: I386, number: 3 })).toBe(KILL);
  });

  it('is not there for a machine whose numbers are not known', () => {
    expect(systemCallFilter('riscv64', 'code')).toBeUndefined();
  });
});

describe('the filter for programs', () => {
  const EAFNOSUPPORT = 0x00050061;
  const FAMILIES = { unix: 1, ipv4: 2, ipv6: 10, netlink: 16, packet: 17, vsock: 40 } as const;

  it.each([
    ['fork', 'x64', 57],
    ['ptrace, which debuggers need', 'x64', 101],
    ['memfd_create', 'x64', 319],
    ['ptrace, which debuggers need', 'arm64', 117],
  ] as const)('lets %s pass on %s', (_, arch, number) => {
    expect(answerOf('programs', arch, number)).toBe(ALLOW);
  });

  it.each([
    ['mount', 'x64', 165],
    ['unshare', 'x64', 272],
    ['setns', 'x64', 308],
    ['bpf', 'x64', 321],
    ['keyctl', 'x64', 250],
    ['userfaultfd', 'x64', 323],
    ['io_uring_setup', 'x64', 425],
    ['the new mount calls', 'x64', 428],
    ['mount', 'arm64', 40],
    ['keyctl', 'arm64', 219],
  ] as const)('refuses %s on %s', (_, arch, number) => {
    expect(answerOf('programs', arch, number)).toBe(EPERM);
  });

  it('lets clone make processes and threads, and no namespace of any kind', () => {
    const FORK_OF_GLIBC = 0x1200011;
    const NAMESPACES = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000];
    expect(answerOf('programs', 'x64', 56, { argument: FORK_OF_GLIBC })).toBe(ALLOW);
    expect(NAMESPACES.map((argument) => answerOf('programs', 'x64', 56, { argument }))).toEqual(NAMESPACES.map(() => EPERM));
    expect(answerOf('programs', 'x64', 435)).toBe(ENOSYS);
  });

  it('lets terminals be asked, and nothing be typed into them', () => {
    const [TCGETS, TIOCSTI, TIOCLINUX] = [0x5401, 0x5412, 0x541c];
    expect([TCGETS, TIOCSTI, TIOCLINUX].map((second) => answerOf('programs', 'arm64', 29, { second }))).toEqual([ALLOW, EPERM, EPERM]);
  });

  it('gives sockets of the network namespace and of files, and offline those of files alone', () => {
    const given = (kind: FilterKind): string[] =>
      Object.entries(FAMILIES).flatMap(([name, argument]) => (answerOf(kind, 'x64', 41, { argument }) === ALLOW ? [name] : []));
    expect(given('programs')).toEqual(['unix', 'ipv4', 'ipv6', 'netlink']);
    expect(given('offline programs')).toEqual(['unix']);
    expect(answerOf('programs', 'x64', 41, { argument: FAMILIES.vsock })).toBe(EAFNOSUPPORT);
  });
});
