import { join } from 'node:path';
import type { Limits } from './execution.ts';
import type { Interpreter } from './interpreter.ts';

/** Descriptors of a confined process beside the three usual ones. */
export const DESCRIPTORS = { filter: 3, code: 4, started: 5, info: 6, word: 7 } as const;

export const WORK_FOLDER = '/workspace';
const CODE_FILE = `${WORK_FOLDER}/code.py`;

const MIB = 1024 * 1024;
const FILE_BYTES = 16 * MIB;
/** Address space that an interpreter takes with its libraries and the stacks of a few threads, before the code has anything. */
const INTERPRETER_BYTES = 128 * MIB;

/** Libraries of the system, shown read-only. Neither programs nor homes nor settings lie there. */
const LIBRARIES = ['/usr/lib', '/usr/lib64', '/lib', '/lib64', '/etc/ld.so.cache', '/usr/share/zoneinfo'];
const DEVICES = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom'];

const ENVIRONMENT = {
  HOME: WORK_FOLDER,
  TMPDIR: WORK_FOLDER,
  LANG: 'C.UTF-8',
  // Every further arena would reserve 64 MB of address space for a thread.
  MALLOC_ARENA_MAX: '1',
};

interface Programs {
  readonly prlimit: string;
  readonly interpreter: Interpreter;
}

/**
 * Tells that it is there, waits for a word, then runs the code as the main program. Bubblewrap that is killed while it sets up may leave
 * this behind, and so may a server that is killed then; neither sends a word, and without one it ends.
 */
const PRELUDE = `import os, sys
os.write(${DESCRIPTORS.started}, b"1")
os.close(${DESCRIPTORS.started})
if os.read(${DESCRIPTORS.word}, 1) == b"": os._exit(1)
os.close(${DESCRIPTORS.word})
sys.argv = ["code.py"]
with open("${CODE_FILE}", encoding="utf-8") as file:
    source = file.read()
del os, sys, file
exec(compile(source, "${CODE_FILE}", "exec"), {"__name__": "__main__"})
`;

/** Arguments of bubblewrap. Everything is unshared; what is not bound does not exist inside, and only the work folder can be written. */
export function bubblewrapArguments({ prlimit, interpreter }: Programs, limits: Limits): string[] {
  return [
    '--unshare-all',
    '--die-with-parent',
    '--new-session',
    ...['--cap-drop', 'ALL'],
    ...['--hostname', 'sandbox'],
    '--clearenv',
    ...Object.entries(ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]),
    ...[...new Set([...LIBRARIES, ...librariesOf(interpreter)])].flatMap((path) => ['--ro-bind-try', path, path]),
    ...[interpreter.executable, prlimit].flatMap((path) => ['--ro-bind', path, path]),
    ...DEVICES.flatMap((path) => ['--dev-bind', path, path]),
    ...['--size', String(FILE_BYTES), '--tmpfs', WORK_FOLDER],
    ...['--file', String(DESCRIPTORS.code), CODE_FILE],
    // The root is a folder in memory: left writable, it would have no size.
    ...['--remount-ro', '/'],
    ...['--chdir', WORK_FOLDER],
    ...['--seccomp', String(DESCRIPTORS.filter)],
    ...['--info-fd', String(DESCRIPTORS.info)],
    '--',
    prlimit,
    ...limitArguments(limits),
    '--',
    interpreter.executable,
    // Isolated from folders and variables of a user, nothing written beside modules, nothing printed kept back.
    ...['-I', '-B', '-u', '-X', 'utf8'],
    ...['-c', PRELUDE],
  ];
}

/** A link in the way to the prefix is kept: an interpreter may look for its libraries by either name. */
function librariesOf({ prefixes }: Interpreter): string[] {
  return prefixes.flatMap((prefix) => [join(prefix, 'lib'), join(prefix, 'lib64')]);
}

function limitArguments({ timeMs, memoryBytes, stackBytes }: Limits): string[] {
  const limits = {
    as: memoryBytes + INTERPRETER_BYTES,
    // Of all threads together, and only for a server that has itself been stopped: the clock is its business.
    cpu: 4 * (Math.ceil(timeMs / 1000) + 1),
    stack: Math.max(stackBytes, 8 * MIB),
    fsize: FILE_BYTES,
    nofile: 64,
    nproc: 32,
    memlock: 0,
    msgqueue: 0,
    sigpending: 64,
    core: 0,
  };
  return Object.entries(limits).map(([name, limit]) => `--${name}=${limit}`);
}
