import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { needing } from '../../support/needs.ts';
import { python } from '../../support/patient-python.ts';
import { longestPiece } from '../../support/processor-time.ts';
import { temporaryWorkspace } from '../../support/tool-call.ts';

const missing = await python.unavailable();
const MIB = 1024 * 1024;

/** Statements whose success would be an escape; says what stopped them. */
async function attempt(statements: string): Promise<string> {
  const body = statements.split('\n').map((line) => `    ${line}`);
  const code = [
    'import ctypes, mmap, os, resource, signal, socket, sys',
    'try:',
    ...body,
    '    print("escaped")',
    'except BaseException as error:',
  ];
  const { status, stdout, error } = await python.run([...code, '    print("stopped by", type(error).__name__)'].join('\n'));
  return status === 'completed' ? stdout.trim() : `${status}: ${error}`;
}

/** A call through the C library that has to fail. */
function systemCall(call: string): string {
  return `libc = ctypes.CDLL(None, use_errno=True)\nif ${call} < 0: raise OSError(ctypes.get_errno(), "")`;
}

describe.skipIf(missing !== undefined)(needing('what Python cannot reach', missing), () => {
  it.each([
    ['accounts of the host', 'open("/etc/passwd").read()'],
    ['names of the host', 'open("/etc/hosts").read()'],
    ['the home of the server', `os.listdir(${JSON.stringify(process.env.HOME ?? '/root')})`],
    ['the source of the server', `os.listdir(${JSON.stringify(process.cwd())})`],
    ['the folder for temporary files of the host', 'os.listdir("/tmp")'],
    ['processes', 'os.listdir("/proc")'],
    ['the root through a process', 'os.listdir("/proc/1/root")'],
    ['the system by sysfs', 'os.listdir("/sys")'],
    ['shared memory of the host', 'os.listdir("/dev/shm")'],
    ['sockets of the host', 'os.listdir("/run")'],
    ['a shell', 'os.execv("/bin/sh", ["sh"])'],
    ['a parent of the root', 'open("/../../etc/passwd").read()'],
    ['a parent of its folder', 'open("../etc/passwd").read()'],
    ['a link out of its folder', 'os.symlink("/etc/passwd", "l")\nopen("l").read()'],
    ['a link to a folder above', 'os.symlink("..", "up")\nopen("up/etc/passwd").read()'],
    ['a hard link to its interpreter', 'os.link(sys.executable, "python")'],
  ])('%s', async (_, statements) => {
    expect(await attempt(statements)).toMatch(/^stopped by (FileNotFoundError|PermissionError|OSError)$/);
  });

  it('anything else than its libraries, its folder and four devices', async () => {
    const { stdout } = await python.run(
      'import os\nprint(sorted(os.listdir("/")), sorted(os.listdir("/etc")), sorted(os.listdir("/dev")))',
    );
    const [root, etc, dev] = stdout.trim().split(/(?<=\]) /);
    expect(etc).toBe("['ld.so.cache']");
    expect(dev).toBe("['null', 'random', 'urandom', 'zero']");
    for (const name of ['home', 'root', 'tmp', 'var', 'proc', 'sys', 'run', 'boot']) expect(root).not.toContain(`'${name}'`);
  });

  it('a file of the host whose path it knows', async () => {
    const file = join(temporaryWorkspace(), 'token');
    writeFileSync(file, 'abp_secret', { mode: 0o644 });
    expect(await attempt(`open(${JSON.stringify(file)}).read()`)).toBe('stopped by FileNotFoundError');
    expect(await attempt(`open(${JSON.stringify(file)}, "w").write("changed")`)).toBe('stopped by FileNotFoundError');
    expect(readFileSync(file, 'utf8')).toBe('abp_secret');
  });

  it('the environment of the server', async () => {
    vi.stubEnv('ABP_TEST_SECRET', 'abp_secret_in_the_environment');
    const { stdout } = await python.run('import os\nprint(sorted(os.environ.items()))');
    vi.unstubAllEnvs();
    expect(stdout).toBe(
      "[('HOME', '/workspace'), ('LANG', 'C.UTF-8'), ('MALLOC_ARENA_MAX', '1'), ('PWD', '/workspace'), ('TMPDIR', '/workspace')]\n",
    );
  });

  it('descriptors of the server', async () => {
    const code = 'import os\nfor number in range(64):\n    try: os.fstat(number)\n    except OSError: continue\n    print(number, end=" ")';
    expect((await python.run(code)).stdout).toBe('0 1 2 ');
  });

  it('the name and the user of the host', async () => {
    const { stdout } = await python.run('import os, socket\nprint(socket.gethostname(), os.getuid() == 0, os.getgroups())');
    // Root runs it as nobody; another user runs it as itself, whose own group is all that may be left of its groups.
    const ownGroup = process.getuid?.() === 0 ? 65534 : process.getgid?.();
    expect(['sandbox False []\n', 'sandbox False [65534]\n', `sandbox False [${ownGroup}]\n`]).toContain(stdout);
  });
});

describe.skipIf(missing !== undefined)(needing('what Python cannot change', missing), () => {
  it.each([
    ['the root', 'open("/x", "w")'],
    ['its libraries', 'open("/usr/lib/x", "w")'],
    ['its interpreter', 'open(sys.executable, "r+")'],
    ['the rights of its libraries', 'os.chmod("/usr/lib", 0o777)'],
    ['devices', 'open("/dev/x", "w")'],
    ['settings', 'open("/etc/x", "w")'],
    ['the folder above its own', 'open("../x", "w")'],
    ['a file behind a link', 'os.symlink("/usr/lib/x", "l")\nopen("l", "w")'],
    ['its user', 'os.setuid(0)'],
    ['its root', 'os.chroot("/workspace")'],
    ['its mounts', systemCall('libc.mount(b"none", b"/workspace", b"tmpfs", 0, None)')],
    ['what is mounted read-only', systemCall('libc.mount(None, b"/", None, 32 | 4096, None)')],
    ['its namespaces', systemCall('libc.unshare(0x10000000)')],
    ['its limit on memory', 'resource.setrlimit(resource.RLIMIT_AS, (-1, -1))'],
    ['its limit on processes', 'resource.setrlimit(resource.RLIMIT_NPROC, (1000, 1000))'],
    ['other processes, by their number', `os.kill(${process.pid}, 9)`],
    ['other processes, by tracing', systemCall(`libc.ptrace(16, ${process.pid}, None, None)`)],
    ['the name of the host', systemCall('libc.sethostname(b"x", 1)')],
    ['the clock', systemCall('libc.settimeofday(ctypes.byref(ctypes.c_longlong(0)), None)')],
    ['its permission to gain privileges', systemCall('libc.prctl(38, 0, 0, 0, 0)')],
  ])('%s', async (_, statements) => {
    expect(await attempt(statements)).toMatch(/^stopped by (FileNotFoundError|PermissionError|OSError|ValueError|ProcessLookupError)$/);
  });

  it('the process that watches it: it sees none but itself, and signals to all reach nobody', async () => {
    const { stdout } = await python.run('import os, signal\nos.kill(1, 9)\ntry: os.kill(-1, 9)\nexcept OSError: pass\nprint("alive")');
    expect(stdout).toBe('alive\n');
    expect(existsSync(`/proc/${process.pid}`)).toBe(true);
  });

  it('that it can gain no privileges', async () => {
    expect((await python.run('import ctypes\nprint(ctypes.CDLL(None).prctl(39, 0, 0, 0, 0))')).stdout).toBe('1\n');
  });
});

describe.skipIf(missing !== undefined)(needing('whom Python cannot call', missing), () => {
  let calls = 0;
  let port = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  afterAll(() => server.close());

  it.each([
    ['this server', (to: number) => `socket.create_connection(("127.0.0.1", ${to}), 1)`],
    ['this server, by HTTP', (to: number) => `import urllib.request\nurllib.request.urlopen("http://127.0.0.1:${to}/", timeout=1)`],
    ['this server, by IPv6', (to: number) => `socket.create_connection(("::1", ${to}), 1)`],
    ['an address outside', () => 'socket.create_connection(("1.1.1.1", 53), 1)'],
    ['a name', () => 'socket.getaddrinfo("example.com", 80)'],
    ['a service by datagrams', () => 'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 53))'],
    ['a socket of the file system', () => 'socket.socket(socket.AF_UNIX).connect("/run/docker.sock")'],
    ['the machine around a virtual one', () => 'socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).connect((2, 1))'],
    ['the kernel by netlink', () => 'socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)'],
  ])('%s', async (_, statements) => {
    expect(await attempt(statements(port))).toMatch(/^stopped by (PermissionError|gaierror|URLError|OSError)$/);
    expect(calls).toBe(0);
  });
});

describe.skipIf(missing !== undefined)(needing('what Python cannot use up', missing), () => {
  it.each([
    ['processes, with fork', 'while True: os.fork()'],
    ['processes, with programs', 'import subprocess\nsubprocess.run([sys.executable, "-c", "1"], check=True)'],
    ['processes, with spawn', 'os.posix_spawn(sys.executable, ["python3"], {})'],
    ['processes, with workers', 'import multiprocessing\nmultiprocessing.Process(target=print).start()'],
    [
      'processes, with the system call',
      `number = 56 if os.uname().machine == "x86_64" else 220\n${systemCall('libc.syscall(number, 17, 0, 0, 0, 0)')}`,
    ],
    ['threads', 'import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(1,), daemon=True).start()'],
    ['memory, at once', 'bytearray(10 ** 9)'],
    ['memory, bit by bit', 'kept = []\nwhile True: kept.append(bytearray(2 ** 20))'],
    ['memory, by mapping', 'mmap.mmap(-1, 2 ** 30)'],
    ['memory, by segments that outlive a process', systemCall('libc.shmget(0, 1 << 20, 0o1600)')],
    ['memory, by files without a name', 'os.memfd_create("x")'],
    ['memory, by locking it', systemCall('libc.mlockall(3)')],
    ['its folder, with one file', 'file = open("x", "wb")\nwhile True: file.write(bytes(2 ** 20))'],
    ['its folder, with many files', 'n = 0\nwhile True:\n    open(str(n), "wb").write(bytes(2 ** 20))\n    n += 1'],
    ['descriptors', 'kept = []\nwhile True: kept.append(os.open("code.py", os.O_RDONLY))'],
    ['the stack', 'def f(n): return f(n + 1) + 1\nf(0)'],
  ])('%s', async (_, statements) => {
    expect(await attempt(statements)).toMatch(/^stopped by (PermissionError|MemoryError|OSError|RuntimeError|RecursionError|ValueError)$/);
  });

  it.each([
    ['time, with a loop', 'while True: pass', 'timed_out'],
    [
      'time, with a loop that catches everything',
      'while True:\n    try:\n        while True: pass\n    except BaseException: pass',
      'timed_out',
    ],
    [
      'time, with signals that are not heard',
      'import signal, time\nfor n in (1, 2, 3, 14, 15): signal.signal(n, signal.SIG_IGN)\nwhile True: time.sleep(60)',
      'timed_out',
    ],
    ['time, with closed output', 'import os\nos.close(1)\nos.close(2)\nwhile True: pass', 'timed_out'],
    ['time, with a thread that goes on', 'import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()', 'timed_out'],
    ['time, with a long calculation', '10 ** 10 ** 9', 'timed_out'],
    ['output', 'while True: print("x" * 1000)', 'crashed'],
    ['output of errors', 'import sys\nwhile True: sys.stderr.write("x" * 1000)', 'crashed'],
    ['output without lines', 'import os\nwhile True: os.write(1, bytes(65536))', 'crashed'],
    ['files, that are empty', 'import os\nn = 0\nwhile True:\n    os.mknod(str(n))\n    n += 1', 'crashed'],
  ])('%s', async (_, code, status) => {
    const started = performance.now();
    // What ends for another reason has time enough to get there on a busy machine.
    const timeMs = status === 'timed_out' ? 500 : 60_000;
    const ended = await python.run(code, { limits: { timeMs, outputCharacters: 2000 } });
    expect(ended.status).toBe(status);
    expect(ended.stdout.length).toBeLessThanOrEqual(2000);
    expect(performance.now() - started).toBeLessThan(60_000);
  });

  it('the server: its own event loop goes on while code prints without end', async () => {
    const [{ status }, held] = await longestPiece(python.run('while True: print("x" * 1000)'));
    expect(status).toBe('crashed');
    expect(held).toBeLessThan(2000);
  });

  it('more memory than its settings say', async () => {
    const code = `x = bytearray(${40 * MIB})\nprint(len(x))`;
    expect(await python.run(code, { limits: { memoryBytes: 64 * MIB } })).toMatchObject({ stdout: `${40 * MIB}\n` });
    expect(await python.run(`x = bytearray(${200 * MIB})`, { limits: { memoryBytes: 64 * MIB } })).toMatchObject({ status: 'threw' });
  });

  it('a crash of the interpreter is an end like any other', async () => {
    expect(await python.run('import ctypes\nctypes.string_at(0)')).toMatchObject({
      status: 'crashed',
      error: 'the code was ended by SIGSEGV',
    });
  });
});

/** Processes of this machine by their numbers, with their parents and what they were started with. */
function processes(): { pid: number; parent: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), command }];
      } catch {
        return []; // It has ended meanwhile.
      }
    });
}

/** A process and all that come from it. */
function tree(root: number): number[] {
  const all = processes();
  const below = (pid: number): number[] => [pid, ...all.filter(({ parent }) => parent === pid).flatMap((child) => below(child.pid))];
  return below(root);
}

async function untilGone(pids: readonly number[]): Promise<void> {
  await vi.waitFor(() => expect(processes().filter(({ pid }) => pids.includes(pid))).toEqual([]), { timeout: 60_000 });
}

/** Bubblewrap and what runs inside, once the interpreter is there; `cpu` marks whose it is. */
async function confinedTree(cpu: number): Promise<number[]> {
  return await vi.waitFor(
    () => {
      const outer = processes().find(({ command }) => command.includes('bwrap') && command.includes(`--cpu=${cpu} `));
      const pids = outer === undefined ? [] : tree(outer.pid);
      expect(pids.length).toBeGreaterThanOrEqual(3);
      return pids;
    },
    { timeout: 60_000 },
  );
}

describe.skipIf(missing !== undefined)(needing('what Python cannot leave behind', missing), () => {
  it('processes, when nobody waits any more', async () => {
    const gone = new AbortController();
    const run = python.run('while True: pass', { limits: { timeMs: 321_000 }, signal: gone.signal });
    const pids = await confinedTree(4 * 322);
    gone.abort();
    expect((await run).status).toBe('timed_out');
    await untilGone(pids);
  });

  it('processes, when the server is killed', async () => {
    const source = `import { PythonSandbox } from ${JSON.stringify(new URL('../../../src/platform/sandbox/python.ts', import.meta.url).href)};
      await new PythonSandbox().run('while True: pass', { limits: { timeMs: 654_000 } });`;
    const server = spawn(process.execPath, ['--input-type=module', '--eval', source], { stdio: 'ignore' });
    const pids = await confinedTree(4 * 655);
    server.kill('SIGKILL');
    await untilGone(pids);
  });
});
