import { type ChildProcess as NodeChild, spawn, spawnSync } from 'node:child_process';
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { endsTurn } from './bounded/turns.ts';
import { type LineRules, LineSplitter, TextTail } from './line-splitter.ts';
import { type ProcessGuard, startGuard } from './process-guard.ts';
import { sendSignal } from './process-table.ts';

/** The most that is kept of the error output. */
const STDERR_CHARACTERS = 64 * 1024;
/**
 * A longer line of it is handed over in pieces. None of them is short enough to be told by those who tell lines (4 Mi characters at most),
 * so that no secret is told in two halves that nobody knows for one.
 */
const STDERR_LINE_BYTES = 16 * 1024 * 1024;
/** How long a child's own children may keep its output open after it ended. */
const DRAIN_MS = 300;
const PTY_SIZE = { cols: 200, rows: 50 };

export interface ProcessSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** `closed`: it reads the end of its input at once. */
  readonly stdin: 'closed' | 'open';
  /** `pipe`: its own group, output read by line. `pty`: likewise, on a terminal of its own. `terminal`: it gets ours, and nothing is read. */
  readonly mode: 'pipe' | 'pty' | 'terminal';
  /** Another program that starts this one for us; not on a terminal of its own. */
  readonly barrier?: Barrier;
  /** Rules for the lines of its standard output, where it speaks a protocol. */
  readonly lines?: LineRules;
}

/** The program that a barrier starts. */
export interface BarredProgram {
  readonly file: string;
  /** With the name of the program first. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** As it is called behind the barrier. */
  readonly cwd: string;
}

/** A program that confines another one and starts it. It gets no variable and no argument of the other. */
export interface Barrier {
  readonly command: string;
  readonly args: readonly string[];
  /** Its descriptors beyond the three usual ones. */
  readonly descriptors: readonly ('pipe' | 'ipc')[];
  /** Tells it what to start. Resolves when that begins; `group` is the number of its process group, which signals go to. */
  begin(child: NodeChild, program: BarredProgram): Promise<{ readonly group: number }>;
}

export type OutputSource = 'stdout' | 'stderr';

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A started process. What it leaves behind in its group ends with it. */
export interface ChildProcess {
  readonly pid: number;
  /** The end of the process and of its output; every line has been handed over by then. */
  readonly exit: Promise<Exit>;
  /** The last part of its error output. */
  readonly stderr: string;
  /** False when it no longer takes input. */
  write(text: string): boolean;
  closeInput(): void;
  /** Signals the whole group; false when nobody is left. */
  signal(signal: NodeJS.Signals): boolean;
}

/** Groups of this process that must not outlive it. */
const live = new Set<number>();
let atExit = false;

/** Starts a process; rejects with the system's error when it cannot be started. */
export async function startProcess(spec: ProcessSpec, onLine: (line: string, source: OutputSource) => void): Promise<ChildProcess> {
  endWithUs();
  const guard = startGuard();
  try {
    return spec.mode === 'pty' ? await startPty(spec, guard, onLine) : await startPlain(spec, guard, onLine);
  } catch (error) {
    guard.release();
    throw error;
  }
}

function endWithUs(): void {
  if (atExit) return;
  atExit = true;
  process.once('exit', () => {
    for (const target of live) sendSignal(target, 'SIGKILL');
  });
}

async function startPlain(spec: ProcessSpec, guard: ProcessGuard, onLine: (line: string, source: OutputSource) => void) {
  const { barrier } = spec;
  const shared = spec.mode === 'terminal';
  const usual = shared
    ? (['inherit', 'inherit', 'inherit'] as const)
    : ([spec.stdin === 'open' ? 'pipe' : 'ignore', 'pipe', 'pipe'] as const);
  const child = spawn(barrier?.command ?? spec.command, [...(barrier?.args ?? spec.args)], {
    cwd: barrier === undefined ? spec.cwd : '/',
    env: barrier === undefined ? { ...spec.env } : {},
    // A process that shares our terminal must stay in its foreground group, or it could not read from it.
    detached: !shared && process.platform !== 'win32',
    stdio: [...usual, ...(barrier?.descriptors ?? [])],
    windowsHide: true,
  });
  const pid = child.pid;
  // The error follows as an event; a process without a number never started.
  if (pid === undefined) throw await new Promise<Error>((resolve) => child.once('error', resolve));
  child.on('error', () => undefined);
  const target = shared || process.platform === 'win32' ? pid : -pid;
  guard.watch(target);
  live.add(target);
  const started = new PlainProcess(child, { pid, target, guard, onLine, lines: spec.lines });
  if (barrier !== undefined) await started.begin(barrier, spec);
  return started;
}

interface Started {
  readonly pid: number;
  readonly target: number;
  readonly guard: ProcessGuard;
  readonly onLine: (line: string, source: OutputSource) => void;
  readonly lines: LineRules | undefined;
}

class PlainProcess implements ChildProcess {
  readonly pid: number;
  readonly exit: Promise<Exit>;
  readonly #child: NodeChild;
  readonly #target: number;
  readonly #stderr = new TextTail(STDERR_CHARACTERS);
  /** The group of a process behind a barrier. */
  #inner: number | undefined;

  constructor(child: NodeChild, { pid, target, guard, onLine, lines }: Started) {
    this.pid = pid;
    this.#child = child;
    this.#target = target;
    const stdout = new LineSplitter((line) => onLine(line, 'stdout'), lines);
    const toldLine = (line: string): void => {
      this.#stderr.add(`${line}\n`);
      onLine(line, 'stderr');
    };
    const stderr = new LineSplitter(toldLine, undefined, STDERR_LINE_BYTES);
    readInTurns(child.stdout, stdout);
    readInTurns(child.stderr, stderr);
    // Writing to a process that has just ended is no error of ours; `exit` tells.
    child.stdin?.on('error', () => undefined);
    this.exit = ended(child, target).then((exit) => {
      stdout.flush();
      stderr.flush();
      live.delete(target);
      guard.release();
      return exit;
    });
  }

  get stderr(): string {
    return this.#stderr.text;
  }

  write(text: string): boolean {
    const { stdin } = this.#child;
    if (stdin === null || !stdin.writable) return false;
    stdin.write(text);
    return true;
  }

  closeInput(): void {
    this.#child.stdin?.end();
  }

  /** The program under a barrier is heard through it. The one that hears a signal must be the program, not the barrier, whose end is its end. */
  signal(signal: NodeJS.Signals): boolean {
    if (this.#inner !== undefined && signal !== 'SIGKILL' && sendSignal(-this.#inner, signal)) return true;
    return signalTree(this.#target, signal);
  }

  async begin(barrier: Barrier, { command, args, env, cwd }: ProcessSpec): Promise<void> {
    try {
      const { group } = await barrier.begin(this.#child, { file: command, args: [command, ...args], env, cwd });
      if (this.#target < 0) this.#inner = group;
    } catch (error) {
      sendSignal(this.#target, 'SIGKILL');
      await this.exit;
      const said = this.#stderr.text.trim();
      throw said === '' ? error : new Error(said.split('\n').at(-1), { cause: error });
    }
  }
}

/** A process that writes without a pause waits for the others: some of it is read in each turn of the event loop. */
function readInTurns(output: Readable | null, lines: LineSplitter): void {
  output?.on('data', (chunk: Buffer) => {
    lines.push(chunk);
    if (endsTurn(chunk.length, () => output.resume())) output.pause();
  });
}

/** Windows has no groups to signal; there the tree is ended by its own tool. */
function signalTree(target: number, signal: NodeJS.Signals): boolean {
  if (process.platform !== 'win32') return sendSignal(target, signal);
  return spawnSync('taskkill', ['/pid', String(target), '/t', '/f']).status === 0;
}

/** The process is over when its output is; a leftover child that holds the output open is ended after a moment. */
async function ended(child: NodeChild, target: number): Promise<Exit> {
  return await new Promise((resolve) => {
    let exit: Exit = { code: null, signal: null };
    child.once('exit', (code, signal) => {
      exit = { code, signal };
      const closeHard = (): void => {
        if (target < 0) sendSignal(target, 'SIGKILL');
        setTimeout(() => {
          child.stdout?.destroy();
          child.stderr?.destroy();
        }, DRAIN_MS).unref();
      };
      const timer = setTimeout(closeHard, DRAIN_MS);
      child.once('close', () => clearTimeout(timer));
    });
    child.once('close', () => {
      if (target < 0) sendSignal(target, 'SIGKILL');
      resolve(exit);
    });
  });
}

/** A terminal mixes both outputs and colours them; what is read is the bare text. */
async function startPty(spec: ProcessSpec, guard: ProcessGuard, onLine: (line: string, source: OutputSource) => void) {
  const { spawn: spawnPty } = await import('@lydell/node-pty');
  const pty = spawnPty(spec.command, [...spec.args], { cwd: spec.cwd, env: { ...spec.env }, name: 'xterm-256color', ...PTY_SIZE });
  const target = -pty.pid;
  guard.watch(target);
  live.add(target);
  const lines = new LineSplitter((line) => onLine(stripVTControlCharacters(line), 'stdout'));
  pty.onData((text) => lines.push(Buffer.from(text, 'utf8')));
  const exit = new Promise<Exit>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      sendSignal(target, 'SIGKILL');
      lines.flush();
      live.delete(target);
      guard.release();
      resolve(signal === undefined || signal === 0 ? { code: exitCode, signal: null } : { code: null, signal: signalName(signal) });
    });
  });
  return {
    pid: pty.pid,
    exit,
    stderr: '',
    write: (text: string) => {
      pty.write(text);
      return true;
    },
    // End of input on a terminal is a character.
    closeInput: () => pty.write('\u0004'),
    signal: (signal: NodeJS.Signals) => sendSignal(target, signal),
  };
}

const SIGNAL_NAMES: Readonly<Record<number, string>> = { 1: 'SIGHUP', 2: 'SIGINT', 9: 'SIGKILL', 15: 'SIGTERM' };

function signalName(number: number): string {
  return SIGNAL_NAMES[number] ?? `signal ${number}`;
}
