import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';
import { TextTail } from './line-splitter.ts';

const KEPT_CHARACTERS = 16 * 1024 * 1024;

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** After this long the command is ended with SIGKILL. */
  readonly timeoutMs?: number;
  /** Written to its standard input, which is then closed. */
  readonly input?: string;
}

export interface CommandResult {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The system's error when a command cannot be started. A folder of PATH that this user may not enter makes the system say EACCES of a
 * command that is nowhere; callers ask whether a command is there, so that is told as ENOENT.
 */
function startError(error: unknown, command: string, path: string): unknown {
  if (!(error instanceof Error && 'code' in error && error.code === 'EACCES') || command.includes(sep)) return error;
  const isThere = path.split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, command)));
  return isThere ? error : Object.assign(new Error(`spawn ${command} ENOENT`, { cause: error }), { code: 'ENOENT' });
}

/**
 * Runs a very short command to its end while this process stands still. Throws the system's error when it cannot be started or takes
 * longer than it may.
 */
export function runCommandNow(
  command: string,
  args: readonly string[],
  { env = process.env, timeoutMs }: Pick<CommandOptions, 'env' | 'timeoutMs'> = {},
): CommandResult {
  const { error, status, signal, stdout, stderr } = spawnSync(command, [...args], {
    env: { ...env },
    input: '',
    encoding: 'utf8',
    killSignal: 'SIGKILL',
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  });
  if (error !== undefined) throw startError(error, command, env.PATH ?? '');
  return { code: status, signal, stdout, stderr };
}

/** Runs a short command to its end and keeps what it printed. Rejects with the system's error when it cannot be started. */
export async function runCommand(command: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  return await new Promise((resolve, reject) => {
    const child = spawn(command, [...args], {
      env: { ...(options.env ?? process.env) },
      stdio: ['pipe', 'pipe', 'pipe'],
      killSignal: 'SIGKILL',
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(options.timeoutMs !== undefined && { timeout: options.timeoutMs }),
    });
    const stdout = new TextTail(KEPT_CHARACTERS);
    const stderr = new TextTail(KEPT_CHARACTERS);
    child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.add(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.add(text));
    child.once('error', (error) => reject(startError(error, command, (options.env ?? process.env).PATH ?? '')));
    child.once('close', (code, signal) => resolve({ code, signal, stdout: stdout.text, stderr: stderr.text }));
    // A command that does not read its input ends before it has taken all of it.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}
