import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { runCommand } from '../../src/base/subprocess.ts';
import type { InstallableAgent } from './catalogue.ts';
import { put, textOf } from './files.ts';

const INSTALL_MS = 20 * 60_000;
/** Names what stands in a folder, so that a raised pin is installed over it. */
const STAMP = 'installed.txt';
/** An empty package in the place of those that a command has inside. */
const NOTHING = 'nothing';

/** Where real agents are kept between runs; never inside the project. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env.ABP_AGENTS_CACHE ?? join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'abp-agents');
}

interface Installer {
  /** Where the commands land, below the folder of the agent. */
  readonly bin: string;
  /** The commands that install, in order. */
  steps(folder: string, packages: readonly string[]): readonly (readonly [command: string, ...args: string[]])[];
}

const INSTALLERS: Readonly<Record<InstallableAgent['from'], Installer>> = {
  npm: {
    bin: join('node_modules', '.bin'),
    // Newer versions of npm run no install scripts unless told; some agents fetch their binary in one.
    steps: (folder, packages) => [['npm', 'install', '--prefix', folder, '--no-audit', '--no-fund', '--foreground-scripts', ...packages]],
  },
  python: {
    bin: 'bin',
    steps: (folder, packages) => [
      ['python3', '-m', 'venv', folder],
      [join(folder, 'bin', 'pip'), 'install', '--quiet', ...packages],
    ],
  },
};

/** Installs an agent unless it is there in this version; the PATH that finds it and the Node that runs us. */
export async function installed({ agent, from, packages, carries = [] }: InstallableAgent, command: string): Promise<string> {
  const folder = join(cacheFolder(), agent);
  const installer = INSTALLERS[from];
  const bin = join(folder, installer.bin);
  const path = [bin, dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  const stamp = packages.join(' ');
  if (existsSync(join(bin, command)) && textOf(join(folder, STAMP)) === stamp) return path;
  mkdirSync(folder, { recursive: true });
  if (carries.length > 0) leaveOut(folder, carries);
  for (const [program, ...args] of installer.steps(folder, packages)) {
    const { code, stderr } = await runCommand(program, args, { env: { ...process.env, PATH: path }, timeoutMs: INSTALL_MS });
    if (code !== 0) throw new Error(`${from} could not install ${packages.join(' ')}: ${stderr.slice(-400)}`);
  }
  if (!existsSync(join(bin, command))) throw new Error(`${packages.join(' ')} has no command ${command}`);
  writeFileSync(join(folder, STAMP), stamp);
  return path;
}

/** The command has these packages inside; what is published of it names versions of them that cannot be had everywhere. */
function leaveOut(folder: string, carries: readonly string[]): void {
  put(join(folder, NOTHING, 'package.json'), JSON.stringify({ name: NOTHING, version: '0.0.0' }));
  const overrides = Object.fromEntries(carries.map((name) => [name, `file:./${NOTHING}`]));
  put(join(folder, 'package.json'), JSON.stringify({ private: true, overrides }));
}

/** A package that the scenarios themselves need and the project does not; the folder it is installed in. */
export async function installedTool(name: string, spec: string): Promise<string> {
  const folder = join(cacheFolder(), name);
  if (existsSync(join(folder, 'node_modules', spec.slice(0, spec.lastIndexOf('@'))))) return folder;
  mkdirSync(folder, { recursive: true });
  for (const [program, ...args] of INSTALLERS.npm.steps(folder, [spec])) {
    const { code, stderr } = await runCommand(program, args, { env: process.env, timeoutMs: INSTALL_MS });
    if (code !== 0) throw new Error(`npm could not install ${spec}: ${stderr.slice(-400)}`);
  }
  return folder;
}
