import type { Io } from '../../src/cli/io.ts';

/** Streams that keep what is written to them, for running the command line inside a test. */
export interface CapturedIo extends Io {
  out(): string;
  err(): string;
}

export function captureIo(options: { tty?: boolean; env?: NodeJS.ProcessEnv; stdin?: string } = {}): CapturedIo {
  const out: string[] = [];
  const err: string[] = [];
  const isTTY = options.tty ?? false;
  return {
    stdout: { isTTY, write: (text) => out.push(text) },
    stderr: { isTTY, write: (text) => err.push(text) },
    env: options.env ?? {},
    stdin: async () => options.stdin ?? '',
    out: () => out.join(''),
    err: () => err.join(''),
  };
}
