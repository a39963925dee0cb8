import { pathGlobSource } from '../base/glob.ts';

/** The room of a program on macOS, as far as Seatbelt can hold one: there are no namespaces, only rules about what it may do. */
export interface SeatbeltRoom {
  /** A real path: Seatbelt compares what links lead to. */
  readonly workspace: string;
  readonly writable: boolean;
  /** A private folder that the program has as its home. */
  readonly home: string;
  /** Installations and toolchains that it reads. */
  readonly shown: readonly string[];
  /** Ports of the loopback that it may connect to: those of the gateway and of the proxy. */
  readonly ports: readonly number[];
  /** Globs below the workspace. */
  readonly denyRead: readonly string[];
  readonly denyWrite: readonly string[];
}

/** Programs and libraries of the system. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/System', '/Library/Apple', '/Library/Developer', '/Applications/Xcode.app', '/opt', '/nix'];
const SETTINGS = [
  'ssl',
  'hosts',
  'passwd',
  'group',
  'protocols',
  'services',
  'localtime',
  'shells',
  'zshrc',
  'profile',
  'bashrc',
  'gitconfig',
];
const DEVICES = ['null', 'zero', 'random', 'urandom', 'tty', 'dtracehelper'];
/** Services without which programs do not start, or find no user and no certificate. None of them starts a program or opens a file. */
const SERVICES = [
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.logger',
  'com.apple.system.notification_center',
  'com.apple.trustd.agent',
  'com.apple.diagnosticd',
];
/** Files of the workspace that other programs run without a further decision: not written in place, where nothing is held back later. */
const RUN_LATER = [
  '**/.git/hooks',
  '**/.git/config',
  '**/.git/commondir',
  '**/.gitmodules',
  '**/.vscode',
  '**/.idea',
  '**/.claude',
  '**/.codex',
];

/**
 * A profile for `sandbox-exec`. The last rule that matches counts: everything is denied, then the room is allowed, then parts of it are
 * denied again. Written from what is documented, and not run on macOS yet: no receipt says that it held anything.
 */
export function seatbeltProfile(room: SeatbeltRoom): string {
  const { workspace, writable, home, shown, ports, denyRead, denyWrite } = room;
  const reads = [...SYSTEM, ...SETTINGS.map((name) => `/private/etc/${name}`), ...shown, workspace, home].map(subpath);
  const writes = [...(writable ? [workspace] : []), home, '/private/tmp/abp-agent'].map(subpath);
  const devices = DEVICES.map((name) => literal(`/dev/${name}`));
  const protectedOnes = [...RUN_LATER, ...denyWrite].map((pattern) => below(workspace, pattern));
  return [
    '(version 1)',
    '(deny default)',
    rule('allow process-exec process-fork'),
    rule('allow signal process-info*', ['(target same-sandbox)']),
    rule('allow sysctl-read'),
    rule(
      'allow mach-lookup',
      SERVICES.map((name) => `(global-name ${quoted(name)})`),
    ),
    rule('allow file-read-metadata', ancestorsOf([workspace, home, ...shown]).map(literal)),
    rule('allow file-read*', [literal('/'), ...reads, ...devices]),
    rule('allow file-write*', [...writes, ...devices]),
    ...(ports.length === 0
      ? []
      : [
          rule(
            'allow network-outbound',
            ports.map((port) => `(remote ip ${quoted(`localhost:${port}`)})`),
          ),
        ]),
    ...(denyRead.length === 0
      ? []
      : [
          rule(
            'deny file-read* file-write*',
            denyRead.map((pattern) => below(workspace, pattern)),
          ),
        ]),
    rule('deny file-write*', protectedOnes),
    // A program that moves a folder away moves what is protected in it, too.
    rule('deny file-write-unlink', [literal(workspace), ...ancestorsOf([workspace]).map(literal), below(workspace, '**/.git')]),
    '',
  ].join('\n');
}

function rule(words: string, filters: readonly string[] = []): string {
  return filters.length === 0 ? `(${words})` : `(${words}\n${filters.map((filter) => `  ${filter}`).join('\n')})`;
}

const literal = (path: string): string => `(literal ${quoted(path)})`;
const subpath = (path: string): string => `(subpath ${quoted(path)})`;

/** Everything that a glob names below a folder, and whatever is in it. A quote would end the expression; any character stands for it. */
function below(folder: string, pattern: string): string {
  const place = pathGlobSource(folder.replace(/[*?[\]{}\\]/g, '\\$&'));
  return `(regex #"${`^${place}/${pathGlobSource(pattern)}(/.*)?$`.replace(/["\n]/g, '.')}")`;
}

/** A text of the profile's language. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** The folders on the way to paths, which programs look at before they open one. */
function ancestorsOf(paths: readonly string[]): string[] {
  const all = paths.flatMap((path) => {
    const parts = path.split('/').slice(1, -1);
    return parts.map((_, at) => `/${parts.slice(0, at + 1).join('/')}`);
  });
  return [...new Set(all)].sort();
}
