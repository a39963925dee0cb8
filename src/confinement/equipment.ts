import { existsSync, realpathSync } from 'node:fs';
import { gte } from 'semver';
import { findCommand } from '../base/find-command.ts';
import { runCommand } from '../base/subprocess.ts';
import { hasPerlStarter, PERL, type StarterName } from './starter.ts';
import { systemCallFilter } from './system-calls.ts';

/** Another user than the one who makes the room. */
interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** The programs that confine others on this machine. */
export interface Equipment {
  readonly bwrap: string;
  /** Sets hard limits before anything else begins inside. */
  readonly prlimit: string;
  /** Leaves root inside; used by a server of root alone. */
  readonly setpriv: string;
  /** The Node of this process, shown inside. */
  readonly node: string;
  /** Who starts the program inside. */
  readonly starter: StarterName;
  readonly arch: string;
  readonly filters: { readonly online: Buffer; readonly offline: Buffer };
  /** Bubblewrap can forbid further user namespaces; where it cannot, the filter does. */
  readonly disablesUserNamespaces: boolean;
  /** The user that programs inside run as, where that is not the user of this process; never root. */
  readonly identity?: Identity;
}

/** Where this process runs, as far as it decides whether programs can be confined. */
export interface Machine {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly uid: number;
}

export const thisMachine = (): Machine => ({
  environment: process.env,
  platform: process.platform,
  arch: process.arch,
  uid: process.getuid?.() ?? -1,
});

/** Nobody: whatever runs inside the room of a root that no other user stands behind. */
const NOBODY: Identity = { uid: 65534, gid: 65534 };

/** Why there is no sandbox, and what to do about it. */
export interface Obstacle {
  readonly reason: string;
  readonly remedy: string;
}

const ASK_MS = 20_000;
const INSTALL = 'Install it: apt install bubblewrap, dnf install bubblewrap or pacman -S bubblewrap.';

/** The programs that confine others, found but not tried yet. */
export async function findEquipment(machine: Machine): Promise<Equipment | Obstacle> {
  const { environment, platform, arch, uid } = machine;
  if (platform !== 'linux') {
    return { reason: `programs are confined on Linux only, and this is ${platform}`, remedy: 'Run the backplane on Linux.' };
  }
  const [online, offline] = [systemCallFilter(arch, 'programs'), systemCallFilter(arch, 'offline programs')];
  if (online === undefined || offline === undefined) {
    return { reason: `system calls can be filtered on x64 and arm64, not on ${arch}`, remedy: 'Run the backplane on one of these.' };
  }
  // Folders of the system come last: a server may be started with a PATH of its own.
  const env = { PATH: `${environment.PATH ?? ''}:/usr/bin:/bin:/usr/sbin` };
  const [bwrap, prlimit, setpriv] = ['bwrap', 'prlimit', 'setpriv'].map((name) => findCommand(name, env, platform)?.path);
  if (bwrap === undefined) return { reason: 'bubblewrap (bwrap) is not installed', remedy: INSTALL };
  if (prlimit === undefined || setpriv === undefined) {
    return { reason: 'prlimit and setpriv are not installed', remedy: 'Install util-linux.' };
  }
  const version = await versionOf(bwrap);
  return {
    bwrap,
    prlimit: realpathSync(prlimit),
    setpriv: realpathSync(setpriv),
    node: realpathSync(process.execPath),
    starter: hasPerlStarter(arch) && existsSync(PERL) ? 'perl' : 'node',
    arch,
    filters: { online, offline },
    disablesUserNamespaces: version !== undefined && gte(version, '0.8.0'),
    ...(uid === 0 ? { identity: NOBODY } : {}),
  };
}

async function versionOf(bwrap: string): Promise<string | undefined> {
  const said = await runCommand(bwrap, ['--version'], { timeoutMs: ASK_MS }).catch(() => undefined);
  return /^bubblewrap (\d+\.\d+\.\d+)/.exec(said?.stdout ?? '')?.[1];
}
