import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { DEFAULT_LIMITS, type Execution, type Limits } from './execution.ts';
import { Printout } from './printout.ts';

/** Address space of an interpreter with its libraries is far larger than what a script uses of it. */
const PYTHON_MEMORY_BYTES = 512 * 1024 * 1024;
const PROBE_MS = 5000;

/** System folders an interpreter needs, shown read-only; the home, the state of the server and its sockets are not among them. */
const SYSTEM_FOLDERS = ['/usr', '/bin', '/lib', '/lib64', '/etc/ld.so.cache'];

/**
 * Sets hard limits on itself, then runs what it reads. A process cannot raise a hard limit again, and inside its own user namespace it
 * has no way to the one outside.
 */
const PRELUDE = `import resource, sys
memory, seconds = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
resource.setrlimit(resource.RLIMIT_NPROC, (16, 16))
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
resource.setrlimit(resource.RLIMIT_FSIZE, (16777216, 16777216))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
source = sys.stdin.read()
sys.argv = ["code.py"]
exec(compile(source, "code.py", "exec"), {"__name__": "__main__"})
`;

export interface PythonOptions {
  /** Where programs are looked for, as in `PATH`. Default: the PATH of the process. */
  readonly path?: string | undefined;
}

/**
 * Python behind bubblewrap: namespaces of its own for processes, network, users and files, a read-only system, an empty writable folder
 * in memory. There is no Python where bubblewrap is missing or may not make namespaces.
 */
export class PythonSandbox {
  readonly #path: string;
  #usable: Promise<string | undefined> | undefined;

  constructor(options: PythonOptions = {}) {
    this.#path = options.path ?? process.env.PATH ?? '';
  }

  /** Why Python cannot run here; undefined when it can. Found out once. */
  unavailable(): Promise<string | undefined> {
    this.#usable ??= this.#probe();
    return this.#usable;
  }

  async run(code: string, options: { readonly limits?: Partial<Limits>; readonly signal?: AbortSignal } = {}): Promise<Execution> {
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    const bwrap = findProgram('bwrap', this.#path);
    if (bwrap === undefined) return { status: 'crashed', stdout: '', truncated: false, error: 'bubblewrap is gone' };
    const child = spawn(bwrap, [...CONFINEMENT, 'python3', '-I', '-c', PRELUDE, ...limitArguments(limits)], { stdio: 'pipe', env: {} });
    return await watch(child, { code, limits, signal: options.signal });
  }

  async #probe(): Promise<string | undefined> {
    if (process.platform !== 'linux') return 'Python needs bubblewrap, which exists on Linux only.';
    if (findProgram('bwrap', this.#path) === undefined) return 'Python needs bubblewrap (bwrap), which is not installed on this server.';
    const { status, stdout, error } = await this.run('print(6 * 7)', { limits: { timeMs: PROBE_MS } });
    if (status === 'completed' && stdout === '42\n') return undefined;
    return `bubblewrap or python3 does not work on this server: ${(error ?? stdout).slice(0, 300)}`;
  }
}

/** Everything is unshared; what is not bound does not exist inside. */
const CONFINEMENT: readonly string[] = [
  '--unshare-all',
  '--die-with-parent',
  '--new-session',
  '--cap-drop',
  'ALL',
  '--clearenv',
  '--setenv',
  'PATH',
  '/usr/bin:/bin',
  '--setenv',
  'LANG',
  'C.UTF-8',
  ...SYSTEM_FOLDERS.filter((folder) => existsSync(folder)).flatMap((folder) => ['--ro-bind', folder, folder]),
  '--proc',
  '/proc',
  '--dev',
  '/dev',
  '--size',
  String(16 * 1024 * 1024),
  '--tmpfs',
  '/workspace',
  '--chdir',
  '/workspace',
  '--',
];

function limitArguments({ timeMs, memoryBytes }: Limits): string[] {
  return [String(Math.max(memoryBytes, PYTHON_MEMORY_BYTES)), String(Math.ceil(timeMs / 1000) + 1)];
}

function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

interface Watched {
  readonly code: string;
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
}

function watch(child: ChildProcess, { code, limits, signal }: Watched): Promise<Execution> {
  const out = new Printout(limits.outputCharacters);
  const errors = new Printout(limits.outputCharacters);
  child.stdout?.setEncoding('utf8').on('data', (text: string) => out.add(text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => errors.add(text));
  // The interpreter may end before it has read its source.
  child.stdin?.on('error', () => undefined).end(code);
  const { promise, resolve } = Promise.withResolvers<Execution>();
  const printed = (): Pick<Execution, 'stdout' | 'truncated'> => ({ stdout: out.text, truncated: out.truncated });
  let stopped: string | undefined;
  const stop = (reason: string): void => {
    stopped = reason;
    // With --die-with-parent everything inside the namespace ends with it.
    child.kill('SIGKILL');
  };
  const timer = setTimeout(() => stop(`the code did not end within ${limits.timeMs} ms`), limits.timeMs);
  const abort = (): void => stop('the call was given up');
  signal?.addEventListener('abort', abort, { once: true });
  child.once('error', (error) => resolve({ status: 'crashed', ...printed(), error: error.message }));
  child.once('close', (exit) => {
    if (stopped !== undefined) return resolve({ status: 'timed_out', ...printed(), error: stopped });
    if (exit === 0) return resolve({ status: 'completed', ...printed() });
    return resolve({ status: 'threw', ...printed(), error: errors.text.trim() === '' ? `it ended with ${exit}` : errors.text.trim() });
  });
  return promise.finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  });
}
