import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownFile, ownModule } from '../../base/own-files.ts';
import { compileCacheFolder } from '../../base/threads.ts';
import { AbpError } from '../../contract/errors.ts';
import type { CapabilityManifest } from '../../contract/support.ts';
import { splitCapabilities } from '../../contract/work-orders/sidecar.ts';
import type { Engine } from '../../engines/engine.ts';
import { LOOP_CAPABILITIES } from '../bare-model/bare-model.ts';
import type { CodingAgents } from '../coding-agents/coding-agents.ts';
import { HOSTS } from '../hosts.ts';
import { allowedEnvironment } from '../runs/process/environment.ts';
import type { SidecarProgram } from '../sidecars/adapter.ts';
import { SIDECAR_TIMES, type SidecarTimes } from '../sidecars/dialogue.ts';
import { greet } from '../sidecars/greet.ts';

/** A sidecar as the operator has named it. */
export interface SidecarSetting {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files and folders that it needs in a room, beside those that its command names. */
  readonly shows: readonly string[];
  /** The engine that serves its model calls; without it the sidecar brings its own. */
  readonly engine?: string;
  readonly times: SidecarTimes;
}

/** The engine with what our tool loop adds to it. */
export function engineManifest({ manifest }: Engine): CapabilityManifest {
  return { ...LOOP_CAPABILITIES, ...manifest };
}

/** A bare model with our tool loop, in a process of its own. */
export function engineProgram(engine: Engine, named: string): SidecarProgram {
  const manifest = engineManifest(engine);
  const main = fileURLToPath(ownModule('runtime/bare-model/main'));
  return {
    backend: `engine:${named}`,
    name: `${engine.name} with our tools`,
    command: [process.execPath, '--disable-warning=ExperimentalWarning', main],
    env: { ...ownCache(), ABP_SIDECAR_CAPABILITIES: JSON.stringify(manifest) },
    shows: ownPackage(),
    times: SIDECAR_TIMES,
    manifest,
    version: null,
    asksFirst: true,
    takesToolRules: true,
  };
}

/** Our own programs find what this process has compiled; in a sandbox they read it and cannot change it. */
function ownCache(): Readonly<Record<string, string>> {
  const folder = compileCacheFolder();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

/** Files and folders of this installation that our own programs need to read. */
function ownPackage(): readonly string[] {
  const root = ownFile('').replace(/[/\\]$/, '');
  const parts = root.split(sep);
  const at = parts.indexOf('node_modules');
  const modules = at === -1 ? join(root, 'node_modules') : parts.slice(0, at + 1).join(sep);
  const own = ['src', 'dist', 'bin', 'hosts', 'package.json'].map((name) => join(root, name));
  return [modules, ...own, ...Object.values(ownCache())].filter((path) => existsSync(path));
}

/** Files of a command lie in folders that must be there too, and so must the packages that Node would find from there. */
function foldersOf(command: readonly string[]): readonly string[] {
  const files = command.filter((word) => isAbsolute(word) && existsSync(word)).map((file) => realpathSync(file));
  const folders = [...new Set(files.map((file) => dirname(file)))];
  // A program that lies in the home itself is shown alone.
  const shown = files.map((file) => (secretIn(dirname(file)) === undefined ? dirname(file) : file));
  return [...new Set([...shown, ...folders.flatMap(packagesAbove)])];
}

/** The user's home or ours, if it lies in a folder that a sidecar wants to be shown: their secrets stay outside of every room. */
function secretIn(folder: string): string | undefined {
  const outside = [homedir(), resolve(process.env.ABP_HOME ?? join(homedir(), '.abp'))];
  return outside.find((path) => path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`));
}

function packagesAbove(folder: string): string[] {
  const above = dirname(folder);
  const own = ['node_modules', 'package.json'].map((name) => join(above, name)).filter((path) => existsSync(path));
  return above === folder ? [] : [...own, ...packagesAbove(above)];
}

/** Keeps the hello of each sidecar. We greet one once; with another command it is another sidecar. */
export class SidecarGreetings {
  readonly #known = new Map<string, Promise<SidecarProgram>>();
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #redact: ((text: string) => string) | undefined;

  constructor(environment: Readonly<Record<string, string | undefined>>, redact?: (text: string) => string) {
    this.#environment = environment;
    this.#redact = redact;
  }

  /** The program as it greeted us; undefined where it has not greeted yet, or has changed since. */
  async known(name: string, setting: SidecarSetting): Promise<SidecarProgram | undefined> {
    return await this.#known.get(JSON.stringify([name, setting]))?.catch(() => undefined);
  }

  async program(name: string, setting: SidecarSetting): Promise<SidecarProgram> {
    const key = JSON.stringify([name, setting]);
    const known = this.#known.get(key) ?? this.#greeted(name, setting);
    this.#known.set(key, known);
    // One that failed may have been mended since.
    known.catch(() => this.#known.delete(key));
    return await known;
  }

  async #greeted(name: string, { command, env, times, shows }: SidecarSetting): Promise<SidecarProgram> {
    const backend = `sidecar:${name}`;
    for (const path of shows) {
      const secret = existsSync(path) ? secretIn(realpathSync(path)) : undefined;
      if (existsSync(path) && secret === undefined) continue;
      const reason = secret === undefined ? `there is no ${path} to show it` : `shows: ${path} holds ${secret}, which must stay outside`;
      throw new AbpError('E007', `${backend} is not available: ${reason}`, { backend_id: backend, reason });
    }
    const hello = await greet(backend, {
      command,
      env: { ...allowedEnvironment(this.#environment), ...env },
      handshakeMs: times.handshakeMs,
      redact: this.#redact,
    });
    const { manifest } = splitCapabilities(hello.capabilities);
    return {
      backend,
      name: hello.backend.id,
      command,
      env,
      shows: [...foldersOf(command), ...shows],
      times,
      manifest,
      version: hello.backend.backend_version,
      asksFirst: hello.extensions?.includes('tool_approval') === true,
      takesToolRules: false,
    };
  }
}

/** One of the five hosts as the run engine starts it: the same program that `abp host <id>` is. */
export function hostProgram(name: string, agents: CodingAgents): SidecarProgram & { readonly engine: string } {
  const host = HOSTS.find(({ id }) => id === `host:${name}`);
  if (host === undefined) throw new AbpError('not_found', `There is no host "${name}".`, { backend: `host:${name}` });
  const inner = agents.adapters.list().find(({ agent }) => agent === host.agent);
  return {
    backend: host.id,
    name: host.name,
    command: [process.execPath, '--disable-warning=ExperimentalWarning', ownFile('bin/abp.js'), 'host', name],
    env: { ...ownCache() },
    shows: ownPackage(),
    times: SIDECAR_TIMES,
    manifest: host.manifest,
    version: null,
    asksFirst: true,
    takesToolRules: inner === undefined || inner.takesToolRules === true,
    engine: host.engine,
    ...(inner !== undefined && { traffic: inner.traffic, wants: inner.cliCommand }),
  };
}
