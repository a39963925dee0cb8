import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A child process and the lines it has printed so far. */
export interface Child {
  readonly process: ChildProcess;
  readonly lines: string[];
  /** Resolves when the condition holds for the printed lines; rejects when the child ends before. */
  until(condition: (lines: readonly string[]) => boolean): Promise<void>;
  go(): void;
  /** Resolves with the exit code once everything it printed has been read. */
  ended(): Promise<number | null>;
}

const running = new Set<ChildProcess>();

export interface ChildOptions {
  readonly home: string;
  readonly url?: string;
  readonly command: 'open' | 'insert' | 'insert-forever' | 'lock';
}

/** Starts `child.ts` and waits until it stands ready. */
export async function startChild({ home, url = '', command }: ChildOptions): Promise<Child> {
  const script = fileURLToPath(new URL('./child.ts', import.meta.url));
  const child = spawn(process.execPath, [script, home, url, command], { stdio: ['pipe', 'pipe', 'inherit'] });
  running.add(child);
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  const exited = Promise.all([once(child, 'exit'), once(reader, 'close')]);
  exited.then(() => running.delete(child));
  reader.on('line', (line) => lines.push(line));
  const until = async (condition: (lines: readonly string[]) => boolean): Promise<void> => {
    while (!condition(lines)) {
      const ended = await Promise.race([once(reader, 'line').then(() => false), exited.then(() => true)]);
      if (ended && !condition(lines)) throw new Error(`the child ended after: ${lines.slice(-3).join(' | ')}`);
    }
  };
  await until((printed) => printed.includes('ready'));
  return { process: child, lines, until, go: () => child.stdin.write('go\n'), ended: () => exited.then(() => child.exitCode) };
}

/** For `afterEach`: ends what a failed test left running. */
export async function endChildren(): Promise<void> {
  for (const child of [...running]) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}
