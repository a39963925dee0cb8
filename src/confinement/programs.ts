import { closeSync, existsSync, openSync, readSync, realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { findCommand } from '../base/find-command.ts';
import { lookAt } from '../base/paths/look-at.ts';
import { isWithin, type Shown, shownAsIs } from './room.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A command and what must be shown for it to start. */
export interface Program {
  /** The file itself: a link to it may not be there inside. */
  readonly file: string;
  readonly places: readonly Shown[];
}

/** Shown in every room already. */
const SYSTEM = ['/usr/', '/opt/', '/nix/', '/bin/', '/sbin/', '/lib/', '/lib64/'];
const SHEBANG_BYTES = 512;

/**
 * The program behind a command, which may be a name on the PATH: the package it lies in, and its interpreter where it is a script. A folder
 * that holds one of those that stay outside is never shown for it.
 */
export function programOf(command: string, env: Environment, outside: readonly string[] = []): Program {
  const file = realpathSync(command.includes(sep) ? command : (findCommand(command, env, process.platform)?.path ?? command));
  const paths = new Set([...installationOf(file), ...interpreterOf(file, env, outside)]);
  const kept = [...paths].filter((path) => ![...paths].some((other) => other !== path && isWithin(path, other)));
  const isThere = (path: string): boolean => isOfSystem(path) && !outside.some((other) => isWithin(path, other));
  return { file, places: kept.filter((path) => !isThere(path)).map((path) => shownAsIs(path)) };
}

function isOfSystem(path: string): boolean {
  return SYSTEM.some((folder) => path.startsWith(folder));
}

/** A package of npm with its siblings, which it needs; another program is taken to be one file. */
function installationOf(file: string): string[] {
  const parts = file.split(sep);
  const at = parts.indexOf('node_modules');
  return [at === -1 ? file : parts.slice(0, at + 1).join(sep)];
}

function interpreterOf(file: string, env: Environment, outside: readonly string[]): string[] {
  const [program, ...rest] = shebangOf(file);
  if (program === undefined) return [];
  const named = basename(program) === 'env' ? rest.find((word) => !word.startsWith('-') && !word.includes('=')) : undefined;
  const found = named === undefined ? program : findCommand(named, env, process.platform)?.path;
  if (found === undefined) return [];
  // An environment of Python names its interpreter by a link into another folder; it needs both.
  return [found, real(found)].flatMap((path) => (path === undefined ? [] : installedAt(path, outside)));
}

/** Names of an installation below its prefix. Other things there are not the interpreter's: a project may be the prefix of its own Python. */
const INSTALLED = ['bin', 'lib', 'lib32', 'lib64', 'libexec', 'share', 'include', 'ssl', 'conda-meta', 'pyvenv.cfg'];

/**
 * `…/v24/bin/node` needs the folders beside its own, which have its libraries. A `bin` that many programs share is not shown whole, and
 * neither is a home with a `bin` in it.
 */
function installedAt(interpreter: string, outside: readonly string[]): string[] {
  const bin = dirname(interpreter);
  const prefix = dirname(bin);
  const shared =
    prefix === '/' || basename(prefix) === '.local' || basename(bin) !== 'bin' || outside.some((path) => isWithin(path, prefix));
  if (shared || !['lib', 'lib64'].some((name) => isFolder(join(prefix, name)))) return [interpreter];
  return INSTALLED.map((name) => join(prefix, name)).filter((path) => existsSync(path));
}

const isFolder = (path: string): boolean => lookAt(path).stats?.isDirectory() === true;

function real(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // A link that leads nowhere: the start says so.
  }
}

function shebangOf(file: string): string[] {
  const head = Buffer.alloc(SHEBANG_BYTES);
  const descriptor = openSync(file, 'r');
  try {
    const [line = ''] = head
      .subarray(0, readSync(descriptor, head, 0, SHEBANG_BYTES, 0))
      .toString('latin1')
      .split('\n');
    return line.startsWith('#!') ? line.slice(2).trim().split(/\s+/) : [];
  } finally {
    closeSync(descriptor);
  }
}

/** Tools of a developer in a home, and the variable by which they are found. None of these folders holds a credential. */
const TOOLCHAINS: readonly (readonly [folder: string, variable?: string])[] = [
  ['.cargo/bin'],
  ['.rustup', 'RUSTUP_HOME'],
  ['.pyenv', 'PYENV_ROOT'],
  ['.nvm/versions'],
  ['.bun/bin'],
  ['.deno/bin'],
  ['.local/share/mise/installs'],
];

/** Tools in the home of a user: shown where they are, with the variables that they need there. */
export function toolchainsOf(home: string): { readonly places: readonly Shown[]; readonly env: Readonly<Record<string, string>> } {
  const there = TOOLCHAINS.filter(([folder]) => isFolder(join(home, folder)));
  return {
    places: there.map(([folder]) => shownAsIs(realpathSync(join(home, folder)))),
    env: Object.fromEntries(there.flatMap(([folder, variable]) => (variable === undefined ? [] : [[variable, join(home, folder)]]))),
  };
}
