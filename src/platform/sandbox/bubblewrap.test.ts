import { describe, expect, it } from 'vitest';
import { bubblewrapArguments } from './bubblewrap.ts';
import { DEFAULT_LIMITS } from './execution.ts';

const SYSTEM = {
  prlimit: '/usr/bin/prlimit',
  interpreter: { executable: '/usr/bin/python3.11', prefixes: ['/usr'] },
};

/** What follows each use of an option. */
function valuesOf(args: readonly string[], option: string, count: number): string[][] {
  return args.flatMap((arg, at) => (arg === option ? [args.slice(at + 1, at + 1 + count)] : []));
}

describe('the arguments of bubblewrap', () => {
  it('unshare everything and end with their parent', () => {
    expect(bubblewrapArguments(SYSTEM, DEFAULT_LIMITS).slice(0, 7)).toEqual([
      '--unshare-all',
      '--die-with-parent',
      '--new-session',
      '--cap-drop',
      'ALL',
      '--hostname',
      'sandbox',
    ]);
  });

  it('show libraries, two programs and four devices, and nothing else of the system', () => {
    const args = bubblewrapArguments(SYSTEM, DEFAULT_LIMITS);
    expect(valuesOf(args, '--ro-bind-try', 1).flat()).toEqual([
      '/usr/lib',
      '/usr/lib64',
      '/lib',
      '/lib64',
      '/etc/ld.so.cache',
      '/usr/share/zoneinfo',
    ]);
    expect(valuesOf(args, '--ro-bind', 2)).toEqual([
      ['/usr/bin/python3.11', '/usr/bin/python3.11'],
      ['/usr/bin/prlimit', '/usr/bin/prlimit'],
    ]);
    expect(valuesOf(args, '--dev-bind', 1).flat()).toEqual(['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom']);
    expect(args.filter((arg) => ['--bind', '--bind-try', '--share-net', '--proc', '--dev'].includes(arg))).toEqual([]);
  });

  it('show the libraries of an interpreter that lies elsewhere, by both names of its folder', () => {
    const interpreter = { executable: '/var/home/u/py/bin/python3.12', prefixes: ['/home/u/py', '/var/home/u/py'] };
    const shown = valuesOf(bubblewrapArguments({ ...SYSTEM, interpreter }, DEFAULT_LIMITS), '--ro-bind-try', 1).flat();
    expect(shown.slice(-4)).toEqual(['/home/u/py/lib', '/home/u/py/lib64', '/var/home/u/py/lib', '/var/home/u/py/lib64']);
  });

  it('give it an environment of its own', () => {
    const args = bubblewrapArguments(SYSTEM, DEFAULT_LIMITS);
    expect(args.indexOf('--clearenv')).toBeLessThan(args.indexOf('--setenv'));
    expect(Object.fromEntries(valuesOf(args, '--setenv', 2))).toEqual({
      HOME: '/workspace',
      TMPDIR: '/workspace',
      LANG: 'C.UTF-8',
      MALLOC_ARENA_MAX: '1',
    });
  });

  it('leave one folder of 16 MiB to write in', () => {
    const args = bubblewrapArguments(SYSTEM, DEFAULT_LIMITS);
    expect(valuesOf(args, '--size', 3)).toEqual([['16777216', '--tmpfs', '/workspace']]);
    expect(valuesOf(args, '--remount-ro', 1)).toEqual([['/']]);
    expect(args.indexOf('--remount-ro')).toBeGreaterThan(args.indexOf('--file'));
  });

  it('set hard limits before the interpreter begins', () => {
    const args = bubblewrapArguments(SYSTEM, { ...DEFAULT_LIMITS, timeMs: 1500, memoryBytes: 32 * 1024 * 1024 });
    const start = args.indexOf('--');
    expect(args.slice(start, args.indexOf('/usr/bin/python3.11', start))).toEqual([
      '--',
      '/usr/bin/prlimit',
      '--as=167772160',
      '--cpu=12',
      '--stack=8388608',
      '--fsize=16777216',
      '--nofile=64',
      '--nproc=32',
      '--memlock=0',
      '--msgqueue=0',
      '--sigpending=64',
      '--core=0',
      '--',
    ]);
  });
});
