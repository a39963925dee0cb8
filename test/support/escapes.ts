import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What lies outside of the room, for attempts to reach it. Everything here is readable for everybody on the machine. */
export interface Outside {
  readonly folder: string;
  /** A file with `secret` in it. */
  readonly secret: string;
  readonly port: number;
  readonly socket: string;
  readonly abstractSocket: string;
  /** A process with `outside-mark` in its environment. */
  readonly pid: number;
  /** Paths that exist afterwards if a write got out. */
  readonly written: string;
  close(): void;
}

/** Lays out what an escape would reach: a file, a port, sockets, a process. */
export async function layOutside(): Promise<Outside> {
  const folder = mkdtempSync(join(tmpdir(), 'abp-outside-'));
  const secret = join(folder, 'secret');
  mkdirSync(join(folder, 'home', '.ssh'), { recursive: true });
  for (const file of [secret, join(folder, 'home', '.ssh', 'id_ed25519')]) writeFileSync(file, 'secret', { mode: 0o666 });
  const socket = join(folder, 'service.sock');
  const abstractSocket = `abp-escape-${process.pid}`;
  const servers = [createServer(greet), createServer(greet), createServer(greet)] as const;
  await listening(servers[0], { port: 0, host: '127.0.0.1' });
  await listening(servers[1], { path: socket });
  await listening(servers[2], { path: `\0${abstractSocket}` });
  const address = servers[0].address();
  const victim = spawn('sleep', ['600'], { env: { MARK: 'outside-mark' }, stdio: 'ignore' });
  return {
    folder,
    secret,
    port: typeof address === 'object' && address !== null ? address.port : 0,
    socket,
    abstractSocket,
    pid: victim.pid ?? 0,
    written: join(folder, 'written'),
    close: () => {
      for (const server of servers) server.close();
      victim.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A visitor that only knocks may reset the connection. */
const greet = (socket: Socket): void => void socket.on('error', () => undefined).end('reached\n');

async function listening(server: Server, where: object): Promise<void> {
  await new Promise<void>((resolve) => server.listen(where, resolve));
}

/** One attempt: a shell script that prints FELL when it got what it wanted. `needs` names a program without which it cannot be tried. */
export interface Escape {
  readonly name: string;
  readonly script: (outside: Outside) => string;
  readonly needs?: string;
  /** It succeeds for everybody outside of a room: this is how the suite shows that it can fail. */
  readonly fallsOutside?: true;
}

const python = (code: string): string => `python3 - <<'PYTHON'\n${code}\nPYTHON`;
/** Calls the kernel by number; the call fell when it did not fail. */
const call = (number: number, ...args: (number | string)[]): string =>
  python(`import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(${[number, ...args].join(', ')}) >= 0: print("FELL")`);
const socketOf = (family: number, kind = 1): string =>
  python(`import socket
try:
  socket.socket(${family}, ${kind}, 0); print("FELL")
except OSError: pass`);
const reads = (path: string): string => `cat ${path} 2>/dev/null | grep -q . && echo FELL`;
const writes = (path: string): string => `(echo x > ${path}) 2>/dev/null && echo FELL`;
const dials = (host: string, port: number | string): string =>
  `timeout 3 bash -c 'exec 3<>/dev/tcp/${host}/${port} && (cat <&3 | head -c 1 | grep -q . || [ "${port}" != "" ]) && echo FELL' 2>/dev/null`;
const isX64 = process.arch === 'x64';

/** Ways out of a room, by what would close them. Those marked `fallsOutside` are harmless where they succeed. */
export const ESCAPES: readonly Escape[] = [
  // Files.
  { name: 'a world-readable file elsewhere', script: ({ secret }) => reads(secret), fallsOutside: true },
  { name: 'the same through /proc/self/root', script: ({ secret }) => reads(`/proc/self/root${secret}`), fallsOutside: true },
  { name: 'the same through many ..', script: ({ secret }) => reads(`../../../../../../../../../..${secret}`), fallsOutside: true },
  { name: 'the same through the root of another process', script: ({ secret, pid }) => reads(`/proc/${pid}/root${secret}`) },
  { name: 'keys in a home', script: ({ folder }) => reads(`${folder}/home/.ssh/id_ed25519`), fallsOutside: true },
  { name: '/etc/shadow', script: () => reads('/etc/shadow') },
  // Folders on the way to one that is shown have a name; files beside them have none.
  { name: 'a home of root', script: () => 'find /root -maxdepth 1 -type f 2>/dev/null | grep -q . && echo FELL' },
  { name: 'the kernel log', script: () => 'timeout 2 dmesg 2>/dev/null | grep -q . && echo FELL' },
  { name: '/sys', script: () => reads('/sys/kernel/notes') },
  { name: 'cgroup files', script: () => 'ls /sys/fs/cgroup 2>/dev/null | grep -q . && echo FELL' },
  { name: 'a write elsewhere', script: ({ written }) => writes(written), fallsOutside: true },
  {
    name: 'a write through a symbolic link',
    script: ({ written }) => `ln -sf ${written} out-link && ${writes('out-link')}`,
    fallsOutside: true,
  },
  { name: 'a write into /usr', script: () => writes('/usr/abp-escape') },
  { name: 'a write into /etc', script: () => writes('/etc/abp-escape') },
  { name: 'a write into /', script: () => writes('/abp-escape') },
  { name: 'a write into /dev', script: () => writes('/dev/abp-escape') },
  { name: 'a hard link of a file of the system', script: () => 'ln /etc/passwd passwd-link 2>/dev/null && echo FELL' },
  { name: 'a device', script: () => 'mknod disk b 8 0 2>/dev/null && echo FELL' },
  { name: 'a file of another owner', script: () => 'touch owned && chown 1234 owned 2>/dev/null && echo FELL' },
  { name: 'a setuid file of root', script: () => 'cp /bin/true suid && chmod u+s suid && [ "$(stat -c %u suid)" = 0 ] && echo FELL' },
  { name: '/tmp without a limit', script: () => '[ "$(df -B1 --output=size /tmp | tail -1)" -gt 3000000000 ] && echo FELL' },
  // Processes.
  {
    name: 'the environment of a process outside',
    script: ({ pid }) => `tr '\\0' '\\n' < /proc/${pid}/environ 2>/dev/null | grep -q outside-mark && echo FELL`,
  },
  { name: 'processes outside in /proc', script: () => '[ "$(ls /proc | grep -c "^[0-9]")" -gt 30 ] && echo FELL' },
  {
    name: 'a signal to a process outside',
    script: ({ pid }) => `kill -0 ${pid} 2>/dev/null && grep -q sleep /proc/${pid}/comm 2>/dev/null && echo FELL`,
  },
  { name: 'ptrace of a process outside', script: ({ pid }) => call(101, 16, pid, 0, 0), needs: 'python3' },
  { name: 'the memory of a process outside', script: ({ pid }) => reads(`/proc/${pid}/maps`) },
  { name: 'namespaces of a process outside', script: ({ pid }) => `nsenter -t ${pid} -n true 2>/dev/null && echo FELL` },
  // An agent may give sockets of its own to its shell; those were made in here, and the kernel lists them here. Node reads certificates on
  // a thread, and a program that it starts meanwhile gets that file, which everybody in here may read.
  {
    name: 'an inherited descriptor',
    script: () =>
      'ls -l /proc/self/fd | grep -oE "[0-9]+ -> .*" | grep -vE "^[0-2] ->|-> /proc/[0-9]+/fd$" | while read -r _ _ to; do ' +
      'case $to in /etc/ssl/*) ;; socket:*) grep -qw "$(echo "$to" | tr -dc 0-9)" /proc/net/unix || echo "FELL $to";; *) echo "FELL $to";; esac; done',
  },
  { name: 'more than 5000 processes', script: () => '[ "$(ulimit -u 2>/dev/null || echo 0)" = unlimited ] && echo FELL' },
  // Privileges.
  { name: 'privileges', script: () => "grep -qE '^CapEff:\\s*0*$' /proc/self/status || echo FELL" },
  {
    name: 'privileges that could be gained',
    script: () => "grep -qE '^NoNewPrivs:\\s*1$' /proc/self/status || echo FELL",
    fallsOutside: true,
  },
  { name: 'no filter of system calls', script: () => "grep -qE '^Seccomp:\\s*2$' /proc/self/status || echo FELL", fallsOutside: true },
  { name: 'being root', script: () => '[ "$(id -u)" = 0 ] && echo FELL' },
  { name: 'sudo', script: () => 'timeout 3 sudo -n id 2>/dev/null | grep -q "uid=0" && echo FELL' },
  { name: 'a user namespace', script: () => 'unshare -U true 2>/dev/null && echo FELL' },
  { name: 'a mount namespace', script: () => 'unshare -m true 2>/dev/null && echo FELL' },
  { name: 'a network namespace', script: () => 'unshare -n true 2>/dev/null && echo FELL' },
  { name: 'a bubblewrap inside', script: () => 'bwrap --ro-bind / / true 2>/dev/null && echo FELL', needs: 'bwrap' },
  { name: 'a mount', script: () => 'mount -t tmpfs none . 2>/dev/null && echo FELL' },
  { name: 'a root that is writable again', script: () => 'mount -o remount,rw / 2>/dev/null && echo FELL' },
  { name: 'chroot', script: () => 'chroot . true 2>/dev/null && echo FELL' },
  { name: 'the settings of the kernel', script: () => '(: >> /proc/sys/kernel/core_pattern) 2>/dev/null && echo FELL' },
  { name: 'the magic keys', script: () => '(: >> /proc/sysrq-trigger) 2>/dev/null && echo FELL' },
  { name: 'its own uid map', script: () => '(echo "0 0 1" > /proc/self/uid_map) 2>/dev/null && echo FELL' },
  // The network.
  { name: 'a port of the machine', script: ({ port }) => dials('127.0.0.1', port), fallsOutside: true },
  { name: 'a port of the machine over IPv6', script: ({ port }) => dials('::ffff:127.0.0.1', port) },
  { name: 'the metadata service of clouds', script: () => dials('169.254.169.254', 80) },
  { name: 'the internet', script: () => dials('1.1.1.1', 443) },
  { name: 'a resolver', script: () => 'timeout 3 getent ahosts example.com >/dev/null 2>&1 && echo FELL' },
  { name: 'UDP to the internet', script: () => "timeout 3 bash -c 'echo x > /dev/udp/1.1.1.1/53' 2>/dev/null && echo FELL" },
  {
    name: 'a Unix socket of the machine',
    needs: 'python3',
    fallsOutside: true,
    script: ({ socket }) =>
      python(`import socket
s = socket.socket(socket.AF_UNIX)
try:
  s.connect("${socket}"); print("FELL")
except OSError: pass`),
  },
  {
    name: 'an abstract Unix socket of the machine',
    needs: 'python3',
    fallsOutside: true,
    script: ({ abstractSocket }) =>
      python(`import socket
s = socket.socket(socket.AF_UNIX)
try:
  s.connect("\\0${abstractSocket}"); print("FELL")
except OSError: pass`),
  },
  { name: 'the container daemon', script: () => '[ -S /var/run/docker.sock ] && echo FELL' },
  { name: 'a socket to the hypervisor (vsock)', script: () => socketOf(40), needs: 'python3' },
  { name: 'a packet socket', script: () => socketOf(17, 3), needs: 'python3' },
  { name: 'a raw socket', script: () => socketOf(2, 3), needs: 'python3' },
  { name: 'Bluetooth', script: () => socketOf(31, 3), needs: 'python3' },
  { name: 'the kernel’s crypto (AF_ALG)', script: () => socketOf(38, 5), needs: 'python3' },
  // Parts of the kernel; numbers are those of x64.
  ...(isX64
    ? ([
        {
          name: 'a socket to the hypervisor, by a pair',
          // The kernel makes it before it says that this family knows no pairs.
          script: () =>
            python(`import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(53, 40, 1, 0, (ctypes.c_int * 2)()) >= 0 or ctypes.get_errno() == 95: print("FELL")`),
          needs: 'python3',
        },
        { name: 'the session keyring', script: () => call(250, 0, -3, 1), needs: 'python3' },
        { name: 'a new key', script: () => call(248, 'b"user"', 'b"abp"', 'b"x"', 1, -3), needs: 'python3' },
        { name: 'io_uring', script: () => call(425, 1, 'ctypes.byref(ctypes.create_string_buffer(128))'), needs: 'python3' },
        { name: 'userfaultfd', script: () => call(323, 0), needs: 'python3' },
        { name: 'bpf', script: () => call(321, 0, 'ctypes.create_string_buffer(128)', 128), needs: 'python3' },
        { name: 'perf events', script: () => call(298, 'ctypes.create_string_buffer(128)', 0, -1, -1, 0), needs: 'python3' },
        { name: 'the new mount calls', script: () => call(428, -100, 'b"/"', 1), needs: 'python3' },
        { name: 'a file system by fsopen', script: () => call(430, 'b"tmpfs"', 0), needs: 'python3' },
        { name: 'a file by its handle', script: () => call(304, -100, 'ctypes.create_string_buffer(128)', 0), needs: 'python3' },
        {
          name: 'clone3 with a user namespace',
          script: () => call(435, 'ctypes.create_string_buffer((0x10000000).to_bytes(8, "little") + bytes(80))', 88),
          needs: 'python3',
        },
        {
          name: 'shared memory of the machine',
          script: () =>
            python(`import ctypes
libc = ctypes.CDLL(None)
if libc.shmget(0x61627031, 0, 0) >= 0: print("FELL")`),
          needs: 'python3',
        },
        {
          name: 'typing into a terminal',
          script: () =>
            python(`import fcntl, pty
try:
  _, tty = pty.openpty()
  fcntl.ioctl(tty, 0x5412, b"x"); print("FELL")
except OSError: pass`),
          needs: 'python3',
        },
      ] satisfies Escape[])
    : []),
];

/**
 * The attempts as one script for any shell tool: it prints a line `ESCAPE <number> FELL|held` for each. `harmless` are those that may be
 * tried where nothing confines them.
 */
export function escapeScript(outside: Outside, which: 'all' | 'harmless' = 'all'): string {
  const functions = ESCAPES.map(({ script, needs }, at) => {
    const body = needs === undefined ? script(outside) : `command -v ${needs} >/dev/null || { echo SKIPPED; return; }\n${script(outside)}`;
    return `attempt_${at}() {\n${body}\n}`;
  });
  const runs = ESCAPES.flatMap(({ fallsOutside }, at) =>
    which === 'all' || fallsOutside === true ? [`said=$(attempt_${at} 2>/dev/null); echo "ESCAPE ${at} \${said:-held}"`] : [],
  );
  return ['#!/bin/bash', ...functions, ...runs, 'exit 0', ''].join('\n');
}

/** The names of the attempts that succeeded, with what they got where they say it, and of those that could not be tried, from what the script printed. */
export function readEscapes(printed: string): { readonly fell: string[]; readonly skipped: string[]; readonly tried: number } {
  const said = new Map([...printed.matchAll(/ESCAPE (\d+) (\S+)(?: (.+))?/g)].map(([, at, word, got]) => [Number(at), { word, got }]));
  const named = (word: string): string[] =>
    ESCAPES.flatMap(({ name }, at) => {
      const one = said.get(at);
      if (one?.word !== word) return [];
      return [one.got === undefined ? name : `${name}: ${one.got}`];
    });
  const skipped = named('SKIPPED');
  return { fell: named('FELL'), skipped, tried: said.size - skipped.length };
}
