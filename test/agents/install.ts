import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { runCommand } from '../../src/base/subprocess.ts';
import type { InstallableAgent } from './catalogue.ts';

const INSTALL_MS = 20 * 60_000;

/** Where real agents are kept between runs; never inside the project. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env.ABP_AGENTS_CACHE ?? join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'abp-agents');
}

/** Installs an agent unless it is there; the PATH that finds it and the Node that runs us. */
export async function installed({ agent, packages }: InstallableAgent, command: string): Promise<string> {
  const folder = join(cacheFolder(), agent);
  const bin = join(folder, 'node_modules', '.bin');
  const path = [bin, dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  if (existsSync(join(bin, command))) return path;
  mkdirSync(folder, { recursive: true });
  // Newer versions of npm run no install scripts unless told; some agents fetch their binary in one.
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--foreground-scripts', ...packages];
  const { code, stderr } = await runCommand('npm', args, { env: { ...process.env, PATH: path }, timeoutMs: INSTALL_MS });
  if (code !== 0 || !existsSync(join(bin, command))) throw new Error(`npm could not install ${packages.join(' ')}: ${stderr.slice(-400)}`);
  return path;
}
