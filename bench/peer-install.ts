import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseJsonObject } from '../src/base/json.ts';

const INSTALL_MS = 180_000;

/** Somebody else's gateway on this machine. */
export interface Peer {
  readonly version: string;
  readonly folder: string;
}

/** The package in a cache folder outside of this repository; fetched from npm the first time. */
export async function installedPeer(name: string): Promise<Peer> {
  const cache = process.env.ABP_BENCH_CACHE ?? join(homedir(), '.cache', 'agent-backplane', 'peers');
  const root = join(cache, name.replace(/^@/, '').replace('/', '-'));
  const folder = join(root, 'node_modules', name);
  if (!existsSync(join(folder, 'package.json'))) await install(name, root);
  const version = parseJsonObject(readFileSync(join(folder, 'package.json'), 'utf8'))?.version;
  if (typeof version !== 'string') throw new Error(`${folder} holds no package`);
  return { version, folder };
}

/** Its scripts are not run: a measurement needs none of them. */
async function install(name: string, root: string): Promise<void> {
  process.stderr.write(`installing ${name} into ${root} …\n`);
  mkdirSync(root, { recursive: true });
  const quietly = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const installing = spawn('npm', ['install', '--prefix', root, ...quietly, name], {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: AbortSignal.timeout(INSTALL_MS),
  });
  let said = '';
  installing.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  const [code] = await once(installing, 'close');
  if (code !== 0) throw new Error(`npm could not install ${name}: ${reasonOf(said)}`);
}

/** npm writes one line that says why, among many. */
function reasonOf(said: string): string {
  const lines = said
    .split('\n')
    .map((line) => line.replace(/^npm error\s*/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('A complete log'));
  return lines.slice(0, 2).join('; ') || 'it gave no reason';
}
