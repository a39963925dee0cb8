import { closeSync, openSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { makeFolders } from '../base/paths/make-folders.ts';
import { CliError } from './failure.ts';

/** Where text goes; the streams of the process, or a test's own. */
interface Sink {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** Everything a command may touch of the process around it. */
export interface Io {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: NodeJS.ProcessEnv;
  stdin(): Promise<string>;
}

export const processIo: Io = {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  stdin: () => text(process.stdin),
};

/** NO_COLOR wins over FORCE_COLOR, both win over what the stream is (no-color.org). */
export function colourWanted(io: Io, flag: boolean): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = io.env;
  if (!flag || (NO_COLOR !== undefined && NO_COLOR !== '')) return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0';
  return io.stdout.isTTY === true && TERM !== 'dumb';
}

/** Makes a folder to write files into. */
export function makeOutputFolder(path: string): void {
  try {
    makeFolders(resolve(path));
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new CliError('usage', `${path} cannot be made: ${message}`, { hint: 'Name a folder that you may write.', cause });
  }
}

/** Writes a whole text to a file. */
export function writeText(path: string, text: string): void {
  const file = openOutput(path);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}

/** Opens a file to write to. What is exported is private, so a new one is its owner's alone. */
export function openOutput(path: string): number {
  try {
    return openSync(path, 'w', 0o600);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new CliError('usage', `${path} cannot be written: ${message}`, { hint: 'Name a file in a folder that exists.', cause });
  }
}
