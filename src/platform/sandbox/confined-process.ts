import { type ChildProcess, spawn } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { parseJsonObject } from '../../base/json.ts';
import { TextTail } from '../../base/line-splitter.ts';
import { sendSignal } from '../../base/process-table.ts';
import { bubblewrapArguments, DESCRIPTORS, WORK_FOLDER } from './bubblewrap.ts';
import { type Execution, GIVEN_UP, type Limits, NEVER_BEGAN } from './execution.ts';
import type { Interpreter } from './interpreter.ts';
import { Printout } from './printout.ts';

/** Time for the namespaces and the interpreter to come up, also where the disk or the processors have other work for a while. */
const START_MS = 60_000;
/** Output beyond the limit is thrown away; a program that goes on for so long is not going to stop. */
const MOST_PRINTED = 4 * 1024 * 1024;
/** The size of a folder in memory does not bound its files, and each takes a kilobyte of the kernel. */
const MOST_FILES = 10_000;
const FILES_LOOK_MS = 50;
/** Nobody: a server that runs as root does not run code of models as root, not even inside namespaces, and limits on processes do not hold for root. */
const NOBODY = 65534;

/** The equipment that confines an interpreter: the programs by their paths, and the filter of system calls. */
export interface Equipment {
  readonly bwrap: string;
  /** Sets hard limits before the interpreter begins. */
  readonly prlimit: string;
  readonly interpreter: Interpreter;
  readonly filter: Buffer;
}

export interface ConfinedProgram {
  readonly equipment: Equipment;
  readonly code: string;
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
}

/** Runs code behind bubblewrap to its end, or ends it with everything it started. */
export async function runConfined(program: ConfinedProgram): Promise<Execution> {
  if (program.signal?.aborted === true) return NEVER_BEGAN;
  try {
    return await new Confined(start(program), program).watch();
  } catch (error) {
    return notStarted(error instanceof Error ? error.message : String(error));
  }
}

function start({ equipment, limits }: ConfinedProgram): ChildProcess {
  return spawn(equipment.bwrap, bubblewrapArguments(equipment, limits), {
    stdio: ['ignore', 'pipe', 'pipe', ...Object.values(DESCRIPTORS).map(() => 'pipe' as const)],
    env: {},
    cwd: '/',
    detached: true,
    ...(process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
  });
}

function notStarted(reason: string): Execution {
  return { status: 'crashed', stdout: '', truncated: false, error: `the sandbox could not start: ${reason}` };
}

class Confined {
  readonly #child: ChildProcess;
  readonly #program: ConfinedProgram;
  readonly #out: Printout;
  /** Its end is kept: that is where the interpreter says what went wrong. */
  readonly #errors: TextTail;
  #info = '';
  #printed = 0;
  #started = false;
  #stopped: Pick<Execution, 'status' | 'error'> | undefined;
  #timer: NodeJS.Timeout;
  #filesTimer: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess, program: ConfinedProgram) {
    this.#child = child;
    this.#program = program;
    this.#out = new Printout(program.limits.outputCharacters);
    this.#errors = new TextTail(program.limits.outputCharacters);
    this.#timer = setTimeout(() => this.#giveUpStart(), START_MS);
  }

  async watch(): Promise<Execution> {
    const { code, equipment, signal } = this.#program;
    const abort = (): void => this.#stop('timed_out', GIVEN_UP);
    signal?.addEventListener('abort', abort, { once: true });
    this.#keep(this.#child.stdout, this.#out);
    this.#keep(this.#child.stderr, this.#errors);
    this.#pipe(DESCRIPTORS.filter)?.end(equipment.filter);
    this.#pipe(DESCRIPTORS.code)?.end(code);
    this.#pipe(DESCRIPTORS.info)?.on('data', (chunk: Buffer) => {
      this.#info += chunk.toString('latin1');
    });
    this.#pipe(DESCRIPTORS.started)?.once('data', () => this.#up());
    try {
      return await this.#end();
    } finally {
      clearTimeout(this.#timer);
      clearInterval(this.#filesTimer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** The process may end before it has taken what is written to it; how it ended tells. */
  #pipe(descriptor: number): Socket | undefined {
    const pipe = this.#child.stdio[descriptor];
    return pipe instanceof Socket ? pipe.on('error', () => undefined) : undefined;
  }

  #keep(stream: Readable | null, printout: Printout | TextTail): void {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printout.add(text);
      this.#printed += text.length;
      if (this.#printed > MOST_PRINTED) this.#stop('crashed', `the code printed more than ${MOST_PRINTED} characters`);
    });
  }

  /** The room is whole: from now on the end of bubblewrap is the end of everything in it. */
  #up(): void {
    this.#started = true;
    if (this.#stopped === undefined) this.#begin();
    else this.#kill();
  }

  #begin(): void {
    const { timeMs } = this.#program.limits;
    this.#pipe(DESCRIPTORS.word)?.end('1');
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop('timed_out', `the code did not end within ${timeMs} ms`), timeMs);
    this.#filesTimer = setInterval(() => this.#countFiles().catch((error: unknown) => this.#uncounted(error)), FILES_LOOK_MS);
  }

  async #countFiles(): Promise<void> {
    const { files, ffree } = await statfs(`/proc/${String(this.#inside())}/root${WORK_FOLDER}`);
    if (files - ffree > MOST_FILES) this.#stop('crashed', `the code made more than ${MOST_FILES} files`);
  }

  /** A process that has just ended has no files; otherwise a limit that cannot be watched is no limit. */
  #uncounted(error: unknown): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ESRCH') return;
    this.#stop('crashed', `the files of the code cannot be counted: ${error instanceof Error ? error.message : String(error)}`);
  }

  /** Bubblewrap that is killed while it sets up leaves a process behind: the interpreter that waits for a word is sent away instead. */
  #stop(status: Execution['status'], error: string): void {
    this.#stopped ??= { status, error };
    if (this.#started) this.#kill();
    else this.#pipe(DESCRIPTORS.word)?.destroy();
  }

  #giveUpStart(): void {
    this.#stop('crashed', 'the sandbox did not start in time');
    const inside = this.#inside();
    if (inside !== undefined) sendSignal(inside, 'SIGKILL');
    this.#kill();
  }

  /** The group is bubblewrap; its end takes the namespace with it, and with that every process inside. */
  #kill(): void {
    if (this.#child.pid !== undefined) sendSignal(-this.#child.pid, 'SIGKILL');
  }

  /** The first process of the room, as it is called outside. */
  #inside(): number | undefined {
    const pid = parseJsonObject(this.#info)?.['child-pid'];
    return typeof pid === 'number' && pid > 1 ? pid : undefined;
  }

  async #end(): Promise<Execution> {
    const code = await new Promise<number | null | Error>((resolve) => {
      this.#child.once('error', resolve);
      this.#child.once('close', resolve);
    });
    const printed = { stdout: this.#out.text, truncated: this.#out.truncated };
    if (this.#stopped !== undefined) return { ...this.#stopped, ...printed };
    if (code instanceof Error) return notStarted(code.message);
    const said = this.#errors.text.trim();
    if (!this.#started) return notStarted(said === '' ? `bubblewrap ended with ${code}` : said);
    if (code === 0) return { status: 'completed', ...printed, ...(said === '' ? {} : { stderr: said }) };
    return { ...ending(code, said), ...printed };
  }
}

/** Bubblewrap ends with 128 and the number of the signal that ended the program. */
function ending(code: number | null, said: string): Pick<Execution, 'status' | 'error'> {
  const signal = Object.entries(constants.signals).find(([, number]) => number === (code ?? 0) - 128)?.[0];
  if (signal !== undefined) return { status: 'crashed', error: `the code was ended by ${signal}` };
  return { status: 'threw', error: said === '' ? `the code ended with ${code}` : said };
}
