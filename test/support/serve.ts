import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { spawnAbp } from './run-abp.ts';

/** A server in a process of its own. */
export interface ServeProcess {
  readonly url: string;
  readonly child: ChildProcessWithoutNullStreams;
  /** Sends the signal and waits for the end; the exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | string | null>;
}

/** Starts `abp serve` on a home and a free port; it ends with the test at the latest. */
export async function startServe(home: string, env: NodeJS.ProcessEnv = {}, flags: readonly string[] = []): Promise<ServeProcess> {
  const child = spawnAbp(['serve', '--json', '--port', '0', ...flags], { ABP_HOME: home, ABP_LOG: 'error', ...env });
  const ended = once(child, 'close');
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stderr.pipe(process.stderr);
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(() => {
      throw new Error('abp serve ended before it served');
    }),
  ]);
  return {
    url: JSON.parse(String(line)).url,
    child,
    end: async (signal) => {
      child.kill(signal);
      const [code, by] = await ended;
      return code ?? by;
    },
  };
}
