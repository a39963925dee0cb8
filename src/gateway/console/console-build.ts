import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, constants, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

export type BuildState =
  | { readonly kind: 'none' }
  | { readonly kind: 'building' }
  | { readonly kind: 'ready'; readonly folder: string }
  | { readonly kind: 'failed'; readonly message: string };

/** The end of what a failed build said. */
const SAID = 4000;

/**
 * Builds the console of a clone once per content: what is built lies in a folder named by the hash of its sources and of the lock file,
 * in the clone, or in the home of a user who may only read the clone. It runs in a process of its own, after the server is ready.
 */
export class ConsoleBuild {
  readonly #root: string;
  readonly #home: string;
  #state: BuildState = { kind: 'none' };
  #under: Promise<string> | undefined;

  constructor(root: string, home: string) {
    this.#root = root;
    this.#home = home;
  }

  get state(): BuildState {
    return this.#state;
  }

  /** The folder of the built console, once it is there. */
  folder(onProgress: (line: string) => void): Promise<string> {
    if (this.#under === undefined || this.#state.kind === 'failed') this.#under = this.#make(onProgress);
    return this.#under;
  }

  async #make(onProgress: (line: string) => void): Promise<string> {
    this.#state = { kind: 'building' };
    try {
      const name = await contentHash(this.#root);
      const caches = [join(this.#root, 'node_modules', '.cache', 'abp-console'), join(this.#home, 'cache', 'console')];
      const built = caches.map((cache) => join(cache, name)).find((folder) => existsSync(join(folder, 'index.html')));
      const folder = built ?? (await this.#build(await firstWritable(caches), name, onProgress));
      this.#state = { kind: 'ready', folder };
      return folder;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#state = { kind: 'failed', message };
      throw error;
    }
  }

  async #build(cache: string, name: string, onProgress: (line: string) => void): Promise<string> {
    const vite = join(this.#root, 'node_modules', 'vite', 'bin', 'vite.js');
    if (!existsSync(vite)) {
      throw new Error('The console of a clone is built with its development packages, and they are not installed: run npm ci.');
    }
    onProgress('the console is being built; this happens once after a change and takes a few seconds');
    const began = performance.now();
    // Beside its final place, so that taking its name is one step and no reader sees half of it.
    const folder = join(cache, name);
    const half = join(cache, `half-${process.pid}-${Date.now()}`);
    try {
      // Node reads the bundler's configuration as it is; the bundler's own way writes a copy of it into the clone first.
      const options = ['--configLoader', 'native', '--outDir', half, '--emptyOutDir', '--logLevel', 'warn'];
      await run(process.execPath, [vite, 'build', ...options], join(this.#root, 'console'));
      await rename(half, folder);
    } catch (error) {
      await rm(half, { recursive: true, force: true });
      // Another server of this clone may have been faster.
      if (!existsSync(join(folder, 'index.html'))) throw error;
    }
    onProgress(`the console was built in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    return folder;
  }
}

/** The first of these folders that this user may write into, made where it is missing; the error of the last one where there is none. */
async function firstWritable(folders: readonly string[]): Promise<string> {
  const [first = '', ...others] = folders;
  try {
    await mkdir(first, { recursive: true });
    await access(first, constants.W_OK);
    return first;
  } catch (error) {
    if (others.length === 0) throw error;
    return await firstWritable(others);
  }
}

async function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  // Whatever this process is run for, the pages are those of the package.
  const env = { ...process.env, NODE_ENV: 'production' };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      said = (said + text).slice(-SAID);
    });
  }
  const stop = (): boolean => child.kill();
  process.once('exit', stop);
  try {
    const { code, signal } = await new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    if (signal !== null) throw new Error(`The build of the console was ended by ${signal}; it begins again with the next start.`);
    if (code !== 0) throw new Error(`The build of the console failed:\n${said}`);
  } finally {
    process.off('exit', stop);
  }
}

/** The hash of everything that the build reads. */
async function contentHash(root: string): Promise<string> {
  const source = join(root, 'console');
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const hash = createHash('sha256');
  for (const path of [...paths, join(root, 'package-lock.json')].sort()) {
    hash
      .update(path.slice(root.length))
      .update('\0')
      .update(await readFile(path))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 24);
}
