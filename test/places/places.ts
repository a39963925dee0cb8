import { chmodSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where and how somebody runs the two commands of the README. */
export interface Place {
  readonly name: string;
  /** An ordinary user that the script makes when it runs as root. */
  readonly user?: boolean;
  /** Below the place's own root; may hold spaces and letters of any language. */
  readonly folder?: string;
  /** Needs rights that only root has. */
  readonly needsRoot?: boolean;
  /** Changes the environment, given the place's root. */
  readonly environment?: (root: string) => Readonly<Record<string, string | undefined>>;
  /** Shell lines before the command, in the same shell; `$1` of the wrapper is the command. */
  readonly before?: string;
  /** A program that starts the shell of the test command in other surroundings. */
  readonly wrapper?: readonly string[];
  /** Commands that the tests must not find. */
  readonly without?: readonly string[];
  /** A load on every core while the tests run. */
  readonly busy?: boolean;
  /** Two clones are tested at the same moment. */
  readonly twice?: boolean;
  /** The test command is killed once and started again at once. */
  readonly killed?: boolean;
  /** Another program listens on this port of loopback all the while. */
  readonly taken?: number;
  /** A start that is refused at once, and what it says. */
  readonly refused?: Refusal;
}

/** A start with other variables than those with which it works, and the words that say why it is none and what to do. */
interface Refusal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly says: RegExp;
}

/** A folder with links to every command of this machine but some, of those folders that the place's user may enter. */
function commandsWithout(root: string, { without = [], user = false }: Place): string {
  const folder = join(root, 'commands');
  mkdirSync(folder, { recursive: true });
  // A link into root's home would hide the same command of the system from anybody else.
  const closed = (path: string): boolean => user && `${path}/`.startsWith(`${homedir()}/`);
  for (const from of (process.env.PATH ?? '').split(':').filter((path) => path !== '' && !path.includes('node_modules') && !closed(path))) {
    for (const name of namesIn(from)) {
      if (without.some((command) => name === command || name.startsWith(`${command}3`) || name.startsWith(`${command}.`))) continue;
      try {
        symlinkSync(join(from, name), join(folder, name));
      } catch (error) {
        // The first folder of PATH that has a command wins.
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      }
    }
  }
  return folder;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // A folder of PATH that is not there has no commands.
    return [];
  }
}

/** A home that its user cannot write into. */
function closedHome(root: string): string {
  const folder = mkdtempSync(join(root, 'closed-'));
  chmodSync(folder, 0o555);
  return folder;
}

const CHROMIUM_LIBRARIES = ['libnss3.so', 'libnspr4.so'];

export const PLACES: readonly Place[] = [
  { name: 'root, private folder', needsRoot: true },
  { name: 'ordinary user', user: true },
  { name: 'ordinary user, a space and other letters in the path', user: true, folder: 'my projects/größe λ' },
  { name: 'ordinary user, signs of shells and of patterns in the path', user: true, folder: "it's [my] (own) $HOME & more" },
  { name: 'umask 077', user: true, before: 'umask 077' },
  { name: 'temporary folder elsewhere, with a space', user: true, environment: (root) => ({ TMPDIR: join(root, 'tmp here') }) },
  { name: 'root, private temporary folder', needsRoot: true, environment: (root) => ({ TMPDIR: join(root, 'tmp here') }) },
  {
    name: 'home that cannot be written',
    user: true,
    // npm keeps its cache in the home, and cannot install anything without one.
    environment: (root) => ({ HOME: closedHome(root), ABP_HOME: join(root, 'abp home'), npm_config_cache: join(root, 'npm cache') }),
    refused: {
      environment: { ABP_HOME: undefined },
      says: /the home \S+\.abp cannot be created .*\n.*Set ABP_HOME to a folder that you may write/,
    },
  },
  { name: 'LANG=C', user: true, environment: () => ({ LANG: 'C', LC_ALL: undefined }) },
  { name: 'no locale', user: true, environment: () => ({ LANG: undefined, LC_ALL: undefined, LANGUAGE: undefined }) },
  {
    name: 'no IPv6',
    needsRoot: true,
    wrapper: ['unshare', '--net', '--'],
    before: 'ip link set lo up && (sysctl -qw net.ipv6.conf.all.disable_ipv6=1 || echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6)',
  },
  {
    name: 'port 8088 taken',
    user: true,
    taken: 8088,
    refused: {
      environment: { ABP_PORT: undefined },
      says: /port 8088 on 127\.0\.0\.1 is taken by another program\n.*ABP_PORT=8089 npm start/,
    },
  },
  { name: '1,024 open files', user: true, before: 'ulimit -n 1024' },
  { name: 'without git', user: true, without: ['git'] },
  { name: 'without python3', user: true, without: ['python'] },
  { name: 'without bwrap', user: true, without: ['bwrap'] },
  {
    name: "without Chromium's libraries",
    needsRoot: true,
    wrapper: ['unshare', '--mount', '--'],
    before: `for library in ${CHROMIUM_LIBRARIES.join(' ')}; do for file in $(ldconfig -p | sed -n "s/.*$library .*=> //p"); do mount --bind /dev/null "$file"; done; done`,
  },
  { name: 'two clones at the same time', user: true, twice: true },
  { name: 'right after a killed run', user: true, killed: true },
  { name: 'busy machine', user: true, busy: true },
];

/** The environment of a place: ours, without the paths of this project, with what the place changes. */
export function environmentOf(place: Place, root: string): Record<string, string> {
  const path = (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
  const own: Record<string, string | undefined> = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(npm_|ABP_|VITEST|NODE_)/i.test(name) || name === 'ABP_CORPUS'),
    ),
    PATH: place.without === undefined ? path.join(':') : commandsWithout(root, place),
    HOME: join(root, 'home'),
    CI: 'true',
    ...place.environment?.(root),
  };
  return variables(own);
}

/** Only those that are set. */
export function variables(all: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
