import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type IPty, spawn } from '@lydell/node-pty';
import { installedTool } from './install.ts';

const COLUMNS = 110;
const ROWS = 40;
const LOOK_AGAIN_MS = 100;

/** The part of `@xterm/headless` that is used here. */
interface Emulator {
  write(text: string): void;
  onData(listener: (text: string) => void): void;
  readonly buffer: {
    readonly active: { readonly length: number; getLine(row: number): { translateToString(trimRight: boolean): string } | undefined };
  };
}

/** A program in a terminal of its own, as a person sees and steers it. */
export class Terminal {
  readonly #pty: IPty;
  readonly #emulator: Emulator;
  readonly exit: Promise<number>;
  #ended = false;

  private constructor(pty: IPty, emulator: Emulator) {
    this.#pty = pty;
    this.#emulator = emulator;
    pty.onData((text) => emulator.write(text));
    // Programs ask a terminal where its cursor is and what it can do; some start only after the answer.
    emulator.onData((text) => {
      if (!this.#ended) pty.write(text);
    });
    this.exit = new Promise((resolve) => {
      pty.onExit(({ exitCode }) => {
        this.#ended = true;
        resolve(exitCode);
      });
    });
  }

  static async open(command: readonly [string, ...string[]], where: { cwd: string; env: Record<string, string> }): Promise<Terminal> {
    const emulator = await openEmulator();
    const [program, ...args] = command;
    return new Terminal(spawn(program, args, { ...where, name: 'xterm-256color', cols: COLUMNS, rows: ROWS }), emulator);
  }

  /** Everything on the screen, and above it what has left it. */
  get text(): string {
    const { active } = this.#emulator.buffer;
    return Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? '')
      .join('\n')
      .trimEnd();
  }

  get ended(): boolean {
    return this.#ended;
  }

  type(text: string): void {
    if (!this.#ended) this.#pty.write(text);
  }

  /** Whether the screen came to show it in time. */
  async shows(pattern: RegExp, withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs;
    while (performance.now() < until && !this.#ended) {
      if (pattern.test(this.text)) return true;
      await sleep(LOOK_AGAIN_MS);
    }
    return pattern.test(this.text);
  }

  /** Whether the program ended by itself in time. */
  async ends(withinMs: number): Promise<boolean> {
    await Promise.race([this.exit, sleep(withinMs)]);
    return this.#ended;
  }

  /** To the program itself, not to what it has started. */
  signal(signal: 'SIGHUP' | 'SIGTERM' | 'SIGKILL'): void {
    if (!this.#ended) this.#pty.kill(signal);
  }

  close(): void {
    this.signal('SIGKILL');
  }
}

async function openEmulator(): Promise<Emulator> {
  const folder = await installedTool('terminal', '@xterm/headless@5.5.0');
  // A CommonJS package without a named entry for modules; the shape is that of its typings.
  const { Terminal: Constructor } = createRequire(join(folder, 'index.js'))('@xterm/headless') as {
    Terminal: new (options: object) => Emulator;
  };
  return new Constructor({ cols: COLUMNS, rows: ROWS, scrollback: 5000, allowProposedApi: true });
}
