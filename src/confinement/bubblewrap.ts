import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Equipment } from './equipment.ts';
import { HOME_INSIDE, isWithin, ROOM_LIMITS, type Room, type RoomLimits, type Shown } from './room.ts';
import { starterCommand } from './starter.ts';

/** Descriptors of a confined process beside the three usual ones. */
export const DESCRIPTORS = { channel: 3, filter: 4, options: 5, info: 6 } as const;

const MIB = 1024 * 1024;
/** Programs of the system, shown read-only where they are. */
const PROGRAMS = ['/usr', '/opt', '/nix'];
/** Links into `/usr` on most systems, folders of their own on the others. */
const MERGED = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Files of `/etc` that programs ask for. No secret of the system is among them. */
const SETTINGS = [
  'alternatives',
  // Not the folders around these: they are where keys of certificates are kept, too.
  'ssl/certs',
  'ssl/cert.pem',
  'ssl/ca-bundle.pem',
  'ssl/openssl.cnf',
  'ca-certificates',
  'pki/ca-trust',
  'pki/java',
  'pki/tls/certs',
  'pki/tls/cert.pem',
  'pki/tls/openssl.cnf',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'timezone',
  'passwd',
  'group',
  'nsswitch.conf',
  'hosts',
  'protocols',
  'services',
  'mime.types',
  'login.defs',
  'profile',
  'bash.bashrc',
  'gitconfig',
  'os-release',
  'terminfo',
  'locale.alias',
].map((name) => `/etc/${name}`);
/** Folders on the way to them. */
const SETTINGS_FOLDERS = ['/etc/ssl', '/etc/pki', '/etc/pki/tls'];
/** Folders in memory. Without a size each could take half of the machine's. */
const IN_MEMORY: readonly (readonly [path: string, mebibytes: number])[] = [
  ['/dev/shm', 256],
  ['/tmp', 2048],
  ['/run', 16],
  ['/var', 256],
];

/** Where the program that starts the others lies inside. */
export const NODE_INSIDE = '/run/abp/bin/node';

/** Folders that every room shows, and those in them that a user of the system may have for a home. */
const NEVER_COVERED = [...PROGRAMS, ...['bin', 'sbin', 'lib', 'lib64', 'games', 'libexec', 'share', 'local'].map((name) => `/usr/${name}`)];

/** The real paths of homes that no room shows: all but folders of the system, which some users have for a home. */
export function keptOutside(folders: readonly string[]): string[] {
  const real = folders.map((path) => (existsSync(path) ? realpathSync(path) : path));
  return [...new Set(real)].filter((path) => path !== '/' && !NEVER_COVERED.some((folder) => isWithin(folder, path)));
}

/** The homes that the system names for a user: programs inside run as one, whose home need not be that of the environment. */
export function homesOf(uid: number | undefined, accounts = '/etc/passwd'): string[] {
  if (!existsSync(accounts)) return [];
  const rows = readFileSync(accounts, 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  return rows.flatMap(([, , user, , , home = '']) => (user === String(uid) && home.startsWith('/') ? [home] : []));
}

/** Paths that every confined program sees, unless they are hidden from it. */
export const SYSTEM_PATHS: readonly string[] = [...PROGRAMS, ...MERGED, ...SETTINGS];

/**
 * How bubblewrap is started. The options go through a descriptor, and the program with its arguments and environment is told to the
 * starter, so that no path of this machine and no secret stands in a command line, and no variable of a caller reaches bubblewrap.
 */
export function bubblewrapCommand({ prlimit, setpriv, identity, starter, arch }: Equipment, { ports, limits }: Room): string[] {
  return [
    ...['--args', String(DESCRIPTORS.options)],
    ...['--seccomp', String(DESCRIPTORS.filter)],
    ...['--info-fd', String(DESCRIPTORS.info)],
    '--',
    prlimit,
    ...limitArguments({ ...ROOM_LIMITS, ...limits }),
    '--',
    ...(identity === undefined
      ? []
      : [setpriv, `--reuid=${identity.uid}`, `--regid=${identity.gid}`, '--clear-groups', '--bounding-set=-all', '--inh-caps=-all', '--']),
    ...starterCommand(starter, { node: NODE_INSIDE, arch, ports }),
  ];
}

function limitArguments({ processes, memoryBytes, fileBytes, openFiles }: RoomLimits): string[] {
  const limits = { nproc: processes, data: memoryBytes, fsize: fileBytes, nofile: openFiles, core: 0 };
  return Object.entries(limits).map(([name, limit]) => `--${name}=${limit}`);
}

/** The options that make the room: an allowlist of folders, never the whole root with some of it covered. */
export function bubblewrapOptions(equipment: Equipment, room: Room): string[] {
  const { identity, node } = equipment;
  const hidden = new Set(room.hidden);
  const seen = (path: string): boolean => !hidden.has(path);
  const home: Shown[] = room.home === undefined ? [] : [{ source: room.home, at: HOME_INSIDE, writable: true }];
  const places = [...home, ...room.places, room.workspace];
  const covers = coveredBy(room.outside ?? [], places);
  return [
    ...namespaceOptions(equipment, room.terminal === true),
    ...PROGRAMS.filter(seen).flatMap((path) => ['--ro-bind-try', path, path]),
    ...MERGED.filter(seen).flatMap(mergedOptions),
    ...['/etc', ...SETTINGS_FOLDERS.filter((path) => existsSync(path))].flatMap(folder),
    ...SETTINGS.filter(seen).flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...IN_MEMORY.flatMap(([path, mebibytes]) => [
      ...(path === '/tmp' && identity !== undefined ? ['--perms', '1777'] : []),
      ...['--size', String(mebibytes * MIB), '--tmpfs', path],
    ]),
    ...(identity === undefined ? ['--dir', '/var/tmp'] : ['--perms', '1777', '--dir', '/var/tmp']),
    ...['--remount-ro', '/dev'],
    ...['/home', HOME_INSIDE, '/run/abp', '/run/abp/bin'].flatMap(folder),
    ...['--ro-bind', node, NODE_INSIDE],
    ...ancestorsOf(places).flatMap(folder),
    // Shorter names first: what lies in a folder is put upon it.
    ...[...covers.map(coverAt), ...foldersIn(covers, places), ...places.map(placeAt)]
      .sort((a, b) => a.at.length - b.at.length)
      .flatMap(({ options }) => options),
    ...covers.flatMap((path) => ['--remount-ro', path]),
    // The starter goes into the workspace: the process that makes the room may have no right to.
    ...['--chdir', '/'],
    ...['--remount-ro', '/proc', '--remount-ro', '/'],
  ];
}

interface Mount {
  readonly at: string;
  readonly options: readonly string[];
}

const placeAt = ({ source, at, writable }: Shown): Mount => ({ at, options: [writable ? '--bind' : '--ro-bind', source, at] });

/** Room for the folders on the way to what is shown in it. */
const COVER_BYTES = MIB;
const coverAt = (path: string): Mount => ({ at: path, options: ['--perms', '0755', '--size', String(COVER_BYTES), '--tmpfs', path] });

/** Folders on the way to the places that are shown in a covered one: bubblewrap would make them for itself alone. */
function foldersIn(covers: readonly string[], places: readonly Shown[]): Mount[] {
  const made = covers.flatMap((cover) => {
    const shown = places.map(({ at }) => at).filter((at) => at !== cover && isWithin(at, cover));
    const isMade = (path: string): boolean => path !== cover && isWithin(path, cover) && !shown.some((at) => isWithin(path, at));
    return shown.flatMap((at) => waysTo(at).filter(isMade));
  });
  return [...new Set(made)].map((path) => ({ at: path, options: folder(path) }));
}

/** The folders around a path, the outermost first. */
function waysTo(path: string): string[] {
  const way: string[] = [];
  for (let above = dirname(path); above !== '/'; above = dirname(above)) way.unshift(above);
  return way;
}

/** Folders that would be seen because of what is shown around them. */
function coveredBy(outside: readonly string[], places: readonly Shown[]): string[] {
  const around = [...PROGRAMS, ...places.map(({ at }) => at)];
  return outside.filter(
    (path) =>
      around.some((folder) => path !== folder && isWithin(path, folder)) && lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  );
}

/** Root has no user namespace: the binds are made as root, and `setpriv` leaves root before anything of ours runs inside. */
function namespaceOptions({ identity, disablesUserNamespaces }: Equipment, terminal: boolean): string[] {
  const own = ['--unshare-user', ...(disablesUserNamespaces ? ['--disable-userns'] : [])];
  return [
    ...(identity === undefined ? own : []),
    ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    '--die-with-parent',
    ...(terminal ? [] : ['--new-session']),
    ...['--cap-drop', 'ALL'],
    ...(identity === undefined ? [] : ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'].flatMap((name) => ['--cap-add', name])),
    ...['--hostname', 'abp'],
  ];
}

/** Readable also for another user than the one who makes the room. */
const folder = (path: string): string[] => ['--perms', '0755', '--dir', path];

function mergedOptions(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

/** Folders on the way to the places that are not there yet, parents first. Those of the system cannot be made, and exist. */
function ancestorsOf(places: readonly Shown[]): string[] {
  const made = new Set<string>();
  for (const { at } of places) {
    for (const path of waysTo(at)) {
      const within = (outer: string): boolean => isWithin(path, outer);
      if (![...PROGRAMS, ...SETTINGS, ...places.map((place) => place.at)].some(within) && !IN_MEMORY.some(([memory]) => path === memory))
        made.add(path);
    }
  }
  return [...made];
}
