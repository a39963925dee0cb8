import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Limits of all processes of a group together. */
export interface GroupLimits {
  readonly processes?: number | undefined;
  readonly memoryBytes?: number | undefined;
}

const CONTROLLERS = ['memory', 'pids'] as const;
type Controller = (typeof CONTROLLERS)[number];

/** A folder of the kernel in which this process might make groups. */
export interface GroupFolder {
  /** The two forms of the kernel's interface: one folder per controller, or one for all. */
  readonly version: 1 | 2;
  readonly folder: string;
}

/** Where groups can be made here; a controller that is absent limits nothing. */
export type GroupPlaces = { readonly [C in Controller]?: GroupFolder };

/** Folders that the tables of `/proc/self` name for a controller, best first. */
export function candidates(controller: Controller, mountinfo: string, membership: string): GroupFolder[] {
  const mounts = mountinfo.split('\n').flatMap(mountOf);
  const member = (wanted: string): string | undefined =>
    membership
      .split('\n')
      .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
      .find((line) => line?.[1]?.split(',').includes(wanted))?.[2];
  const first = mounts.find(({ type, options }) => type === 'cgroup' && options.includes(controller));
  const [of1, of2] = [member(controller), member('')];
  const second = mounts.find(({ type }) => type === 'cgroup2');
  const own = second === undefined || of2 === undefined ? undefined : within(second, of2);
  return [
    ...(first === undefined || of1 === undefined ? [] : [{ version: 1 as const, folder: within(first, of1) }]),
    // A group that has processes cannot have limited groups below it; the one above ours can.
    ...(own === undefined ? [] : [own, ...(own === second?.at ? [] : [dirname(own)])].map((folder) => ({ version: 2 as const, folder }))),
  ];
}

interface Mount {
  readonly root: string;
  readonly at: string;
  readonly type: string;
  readonly options: readonly string[];
}

function mountOf(line: string): Mount[] {
  const [before = '', after = ''] = line.split(' - ');
  const [, , , root, at] = before.split(' ').map((field) => field.replaceAll('\\040', ' '));
  const [type, , options = ''] = after.split(' ');
  return root === undefined || at === undefined || type === undefined ? [] : [{ root, at, type, options: options.split(',') }];
}

/** A path of the kernel's tree, where the mount shows it. */
const within = ({ root, at }: Mount, path: string): string => join(at, relative(root, path));

/** Tries to remove a group whose processes are still dying. A group that is left after them is swept when the next process looks for places. */
const REMOVALS = 5;
const REMOVAL_MS = 1000;

let known: GroupPlaces | undefined;

/** Where this process can make groups; it has tried, once. Groups of processes that are gone are removed on the way. */
export function groupPlaces(): GroupPlaces {
  known ??= findPlaces();
  return known;
}

function findPlaces(): GroupPlaces {
  if (process.platform !== 'linux') return {};
  const [mountinfo, membership] = [textOf('/proc/self/mountinfo'), textOf('/proc/self/cgroup')];
  const found = CONTROLLERS.map(
    (controller) => [controller, candidates(controller, mountinfo, membership).find((place) => works(controller, place))] as const,
  );
  const places = Object.fromEntries(found.filter(([, place]) => place !== undefined)) as GroupPlaces; // The names are the controllers'.
  for (const place of Object.values(places)) sweep(place.folder);
  return places;
}

/** Makes a group, limits it, lets a process enter it and removes it again. */
function works(controller: Controller, place: GroupFolder): boolean {
  if (place.version === 2 && !textOf(join(place.folder, 'cgroup.subtree_control')).split(/\s/).includes(controller)) return false;
  const limits = controller === 'memory' ? { memoryBytes: 1024 ** 3 } : { processes: 1000 };
  let group: ControlGroup | undefined;
  try {
    group = ControlGroup.make({ [controller]: place }, 'try', limits);
    const [file = '', ...args] = group.entering(['/bin/true']);
    return spawnSync(file, args, { env: {} }).status === 0;
  } catch {
    return false; // It may not be written: then it is no place.
  } finally {
    group?.remove();
  }
}

/** One group of processes, with its limits. */
export class ControlGroup {
  readonly #folders: ReadonlyMap<Controller, GroupFolder>;

  private constructor(folders: ReadonlyMap<Controller, GroupFolder>) {
    this.#folders = folders;
  }

  /** Makes a group in the places that hold these limits; throws the system's error. */
  static make(places: GroupPlaces, name: string, limits: GroupLimits): ControlGroup {
    const folders = new Map<Controller, GroupFolder>();
    for (const controller of CONTROLLERS) {
      const place = places[controller];
      const most = controller === 'pids' ? limits.processes : limits.memoryBytes;
      if (place === undefined || most === undefined) continue;
      const made = { ...place, folder: join(place.folder, `abp-${process.pid}-${name}`) };
      mkdirSync(made.folder, { recursive: true });
      folders.set(controller, made);
      for (const [file, value] of settingsOf(controller, made, String(most))) writeFileSync(join(made.folder, file), value);
    }
    return new ControlGroup(folders);
  }

  /** A command that enters the group and becomes another one, so that nothing of it is ever outside. */
  entering(command: readonly string[]): string[] {
    const doors = [...new Set([...this.#folders.values()].map(({ folder }) => join(folder, 'cgroup.procs')))];
    const script = 'count=$1; shift; while [ $count -gt 0 ]; do echo 0 > "$1" || exit 1; shift; count=$((count - 1)); done; exec "$@"';
    return ['/bin/sh', '-c', script, 'abp', String(doors.length), ...doors, ...command];
  }

  /** How often the kernel has stopped something for its limits. */
  stopped(): { readonly processes: number; readonly memory: number } {
    const count = (controller: Controller, files: readonly string[], word: string): number => {
      const folder = this.#folders.get(controller)?.folder;
      const text = folder === undefined ? '' : files.map((file) => textOf(join(folder, file))).join('\n');
      return Number(new RegExp(`^${word} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
    };
    return {
      processes: count('pids', ['pids.events'], 'max'),
      memory: count('memory', ['memory.events', 'memory.oom_control'], 'oom_kill'),
    };
  }

  /** A group in which a process is still dying is removed a moment later. */
  remove(tries = REMOVALS): void {
    const left = [...this.#folders.values()].filter(({ folder }) => !removeEmpty(folder));
    if (left.length > 0 && tries > 1) setTimeout(() => this.remove(tries - 1), REMOVAL_MS).unref();
  }
}

/** The files of a group that hold its limit. Swap counts as memory, where the kernel keeps account of it. */
function settingsOf(controller: Controller, { version, folder }: GroupFolder, most: string): (readonly [file: string, value: string])[] {
  if (controller === 'pids') return [['pids.max', most]];
  const whereKnown = (file: string, value: string) => (existsSync(join(folder, file)) ? [[file, value] as const] : []);
  return version === 2
    ? [['memory.max', most], ['memory.oom.group', '1'], ...whereKnown('memory.swap.max', '0')]
    : [['memory.limit_in_bytes', most], ...whereKnown('memory.memsw.limit_in_bytes', most)];
}

function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    const owner = /^abp-(\d+)-/.exec(name)?.[1];
    if (owner !== undefined && !existsSync(`/proc/${owner}`)) removeEmpty(join(folder, name));
  }
}

/** False where something is still in it. */
function removeEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'EBUSY' && code !== 'ENOENT') throw error;
    return code === 'ENOENT';
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // A file that is not there says nothing.
  }
}
