import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ABP_BIN } from '../support/built.ts';
import type { Measured } from './probe.ts';

const probe = new URL('./probe.ts', import.meta.url).href;

/** A server in a process of its own that tells how long its event loop was held. */
export interface MeasuredServer {
  readonly url: string;
  readonly token: string;
  readonly home: string;
  readonly child: ChildProcess;
  /** What the server went through while the work was done. */
  during(work: () => Promise<unknown>): Promise<Measured>;
  close(): Promise<void>;
}

export interface MeasuredOptions {
  /** Text of `abp.toml`. */
  readonly config?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** A folder to start in, with its home; without it a new one that vanishes with the server. */
  readonly folder?: string;
  /** Further modules that are loaded before the server's own code. */
  readonly preload?: readonly string[];
}

export async function startMeasured({ config = '', env = {}, folder: given, preload = [] }: MeasuredOptions = {}): Promise<MeasuredServer> {
  const folder = given ?? mkdtempSync(join(tmpdir(), 'abp-measured-'));
  const home = join(folder, 'home');
  writeFileSync(join(folder, 'abp.toml'), config);
  const child = spawn(
    process.execPath,
    [...[probe, ...preload].map((module) => `--import=${module}`), ABP_BIN, 'serve', '--json', '--port', '0'],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, ABP_HOME: home, ABP_LOG: 'error', ...env },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    },
  );
  const ended = once(child, 'close');
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    if (given === undefined) rmSync(folder, { recursive: true, force: true });
  };
  if (child.stdout === null) throw new Error('the server has no output');
  const line = await Promise.race([once(createInterface(child.stdout), 'line'), ended.then(() => undefined)]);
  if (line === undefined) throw new Error('abp serve ended before it served');
  const measured = async (): Promise<Measured> => {
    child.send('measured');
    const [message] = await once(child, 'message');
    return message.measured;
  };
  return {
    url: JSON.parse(String(line[0])).url,
    token: readFileSync(join(home, 'token'), 'utf8').trim(),
    home,
    child,
    during: async (work) => {
      await measured();
      await work();
      return await measured();
    },
    close,
  };
}
