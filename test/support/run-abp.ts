import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { main } from '../../src/cli/main.ts';
import { ABP_BIN } from './built.ts';
import { captureIo } from './capture-io.ts';

export interface AbpResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Starts `abp` as a process of its own, in a folder without a configuration, with only the given environment beside PATH. */
export function spawnAbp(argv: readonly string[], env: NodeJS.ProcessEnv): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [ABP_BIN, ...argv], { cwd: tmpdir(), env: { PATH: process.env.PATH, ...env } });
}

/** The exit code, once the process has ended and its streams are closed. */
export function ended(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}

/** Runs `abp` to its end. */
export async function runAbp(argv: readonly string[], options: { env?: NodeJS.ProcessEnv; stdin?: string } = {}): Promise<AbpResult> {
  const child = spawnAbp(argv, options.env ?? {});
  child.stdin.end(options.stdin ?? '');
  const [code, out, err] = await Promise.all([ended(child), text(child.stdout), text(child.stderr)]);
  return { code, out, err };
}

/** Runs the same command line inside the process of the test: for all that does not depend on a process of its own, which takes half a second to start. */
export async function callAbp(
  argv: readonly string[],
  { env = {}, stdin = '' }: { env?: NodeJS.ProcessEnv; stdin?: string } = {},
): Promise<AbpResult> {
  const io = captureIo({ env: { PATH: process.env.PATH, ...env }, stdin });
  const code = await main(argv, io);
  return { code, out: io.out(), err: io.err() };
}
