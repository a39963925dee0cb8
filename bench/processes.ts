import { type ChildProcess, type ForkOptions, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseJsonObject } from '../src/base/json.ts';

const START_MS = 20_000;
const END_MS = 10_000;

/** A process under measurement. */
export interface Subject {
  readonly pid: number;
  readonly url: string;
  readonly child: ChildProcess;
}

const living = new Set<ChildProcess>();
const folders = new Set<string>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** A folder that is deleted when the bench ends. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'abp-bench-'));
  folders.add(folder);
  return folder;
}

/** Starts a script of this folder, or one at an absolute path. It ends with us, because its channel to us breaks. */
export function startScript(name: string, args: readonly string[] = [], options: ForkOptions = {}): ChildProcess {
  return watched(fork(new URL(name, import.meta.url), [...args], options));
}

/** Starts a server script, which sends its port once it listens. */
export async function startServer(name: string, args: readonly string[], options: ForkOptions = {}): Promise<Subject> {
  const child = startScript(name, args, options);
  const port = await answer<number>(child, START_MS);
  return { pid: pidOf(child), url: `http://127.0.0.1:${port}`, child };
}

/** The next message of a script; a script that ends instead has failed. */
export async function answer<T>(child: ChildProcess, ms: number): Promise<T> {
  const gone = new AbortController();
  const onExit = (): void => gone.abort(new Error(`${child.spawnargs.join(' ')} ended`));
  child.once('exit', onExit);
  try {
    const [message] = await once(child, 'message', { signal: AbortSignal.any([gone.signal, AbortSignal.timeout(ms)]) });
    return message as T; // each script of this folder sends one kind of message
  } finally {
    child.off('exit', onExit);
  }
}

const ENTRY = new URL('../bin/abp.js', import.meta.url).pathname;

export interface GatewayOptions {
  readonly home: string;
  /** Lines of `abp.toml`. */
  readonly config: string;
  readonly env: Readonly<Record<string, string>>;
  /** Another `abp.js` than the one of this clone. */
  readonly program?: string;
}

/** Starts `abp serve` as a user would. Resolves when it has said its address. */
export async function startGateway(options: GatewayOptions): Promise<Subject> {
  const { child, said } = await startAbp(['serve', '--port', '0'], options);
  const address = parseJsonObject(said);
  if (typeof address?.url !== 'string') throw new Error(`abp serve said ${said}`);
  return { pid: pidOf(child), url: address.url, child };
}

/** Starts `abp worker`; resolves when it works. */
export async function startTurnWorker(options: GatewayOptions): Promise<ChildProcess> {
  return (await startAbp(['worker'], options)).child;
}

/** Starts a command that says one line when it is ready. */
async function startAbp(
  argv: readonly string[],
  { home, config, env, program = ENTRY }: GatewayOptions,
): Promise<{ child: ChildProcess; said: string }> {
  const file = join(home, 'bench.toml');
  writeFileSync(file, config);
  const child = watched(
    spawn(process.execPath, [program, ...argv, '--json', '--home', home, '--config', file], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ABP_LOG: 'warn', ...env },
    }),
  );
  let said = '';
  const signal = AbortSignal.timeout(START_MS);
  while (!said.includes('\n')) said += String((await once(child.stdout as NonNullable<typeof child.stdout>, 'data', { signal }))[0]); // piped above
  return { child, said: said.slice(0, said.indexOf('\n')) };
}

/** Ends a process, by force when it does not listen. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), END_MS);
  await ended;
  clearTimeout(force);
}

/** Microseconds of processor time of all threads. Linux counts them in nanoseconds; a thread that has ended is not in the sum. */
export function cpuMicros(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  const nanos = readdirSync(tasks).map((task) => Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]));
  return nanos.reduce((sum, value) => sum + value, 0) / 1000;
}

/** The same of its first thread alone, which serves. */
export function threadMicros(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}

/** Resident memory in MB (10⁶ bytes). */
export function residentMb(pid: number): number {
  return statusMb(pid, /^VmRSS:\s+(\d+) kB$/m);
}

/** The most that was ever resident. */
export function peakMb(pid: number): number {
  return statusMb(pid, /^VmHWM:\s+(\d+) kB$/m);
}

function statusMb(pid: number, line: RegExp): number {
  const [, kib] = line.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kib) * 1024) / 1e6;
}

/** Waits until the process has worked off what it does after the last answer; that work belongs to the requests too. */
export async function quiet(pid: number): Promise<void> {
  for (let before = cpuMicros(pid), tries = 0; tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const now = cpuMicros(pid);
    if (now - before < 1000) return;
    before = now;
  }
  throw new Error(`process ${pid} does not come to rest`);
}

/** What a piece of work costs a process, in microseconds of processor time. */
export async function cpuSpent<T>(pid: number, work: () => Promise<T>): Promise<{ readonly cpu: number; readonly result: T }> {
  await quiet(pid);
  const before = cpuMicros(pid);
  const result = await work();
  await quiet(pid);
  return { cpu: cpuMicros(pid) - before, result };
}

function watched(child: ChildProcess): ChildProcess {
  living.add(child);
  child.once('exit', () => living.delete(child));
  return child;
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('the process did not start');
  return child.pid;
}
