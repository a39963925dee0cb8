import { createHash } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, dirname, join, normalize, sep } from 'node:path';
import type { Barrier } from '../../../base/child-process.ts';
import { findCommand } from '../../../base/find-command.ts';
import { removeTree } from '../../../base/paths/remove-tree.ts';
import { barrierOf } from '../../../confinement/barrier.ts';
import type { ControlGroup } from '../../../confinement/control-groups.ts';
import { Egress, type EgressRecord, type EgressRules } from '../../../confinement/egress.ts';
import type { Equipment } from '../../../confinement/equipment.ts';
import { masksFor } from '../../../confinement/masks.ts';
import { type Program, programOf, toolchainsOf } from '../../../confinement/programs.ts';
import { EGRESS_PORT, GATEWAY_PORT, HOME_INSIDE, type RoomLimits, type Shown, shownAsIs } from '../../../confinement/room.ts';
import type { RuleRecord } from '../../../contract/receipts/parts.ts';
import { reachesInto } from '../../policy/path-rules.ts';
import { placeIn } from '../process/run-folder.ts';
import { handOver, makeFoldersFor, type Receiver } from './hand-over.ts';

/** The address of the gateway inside every room. */
export const GATEWAY_INSIDE = `http://127.0.0.1:${GATEWAY_PORT}`;
const PROXY_INSIDE = `http://127.0.0.1:${EGRESS_PORT}`;

const WANTED_FOLDER = 'bin';
/** Stands where a room would show a file with secrets. */
const EMPTY_FILE = 'empty';

/** Variables that lead out of a room, or to folders that are not in it. */
const LEFT_OUT = /^(?:SSH_AUTH_SOCK|GIT_SSH_COMMAND|XDG_\w+|TMP|TEMP|(?:all|http|https|no)_proxy)$/i;

export interface RunRoomOptions {
  readonly equipment: Equipment;
  readonly agent: string;
  /** The folder of all private homes. */
  readonly homes: string;
  /** The original workspace, whose name tells projects apart. */
  readonly project: string;
  /** The workspace as it is shown. */
  readonly workspace: Shown;
  /** Places that are shown beside it: objects of a history, folders of dependencies. */
  readonly places: readonly Shown[];
  readonly hidden: readonly string[];
  /** Homes: they stay outside, also where they lie below something that is shown. */
  readonly outside: readonly string[];
  /** Files that hold secrets: nothing is in them inside, also where they lie in something that is shown. */
  readonly secrets: readonly string[];
  /** Patterns of paths outside of the workspace that must not be shown. */
  readonly denied: readonly string[];
  readonly rules: EgressRules;
  readonly limits?: Partial<RoomLimits>;
  /** The group that everything in the room belongs to, where all of it together is limited. */
  readonly group?: ControlGroup | undefined;
  /** Takes a connection to the gateway. */
  readonly admit: (socket: Socket) => void;
  readonly onEgress: (record: EgressRecord) => void;
}

/** A program behind a barrier. */
export interface Behind {
  /** The folder of the run, which the program reads and may write. */
  readonly folder: string;
  readonly shows?: readonly string[] | undefined;
  /** A command that it starts itself, where that is installed. */
  readonly wants?: string | undefined;
  /** Another folder than that of the run stands where the workspace is. */
  readonly source?: string;
}

/** The room of one run: what its agent sees, and its two ways out. */
export class RunRoom {
  readonly #options: RunRoomOptions;
  readonly #egress: Egress;
  readonly #home: string;
  readonly #toolchains: ReturnType<typeof toolchainsOf>;

  constructor(options: RunRoomOptions) {
    this.#options = options;
    this.#egress = new Egress({ rules: options.rules, onRecord: options.onEgress });
    this.#home = privateHome(options);
    const { places, env } = toolchainsOf(homedir());
    this.#toolchains = { places: places.filter(({ at }) => !options.denied.some((pattern) => reachesInto(pattern, at))), env };
  }

  /** The environment of the agent as it is inside. */
  environment(env: Readonly<Record<string, string>>): Record<string, string> {
    const kept = Object.entries(env).filter(([name]) => !LEFT_OUT.test(name));
    const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].map((name) => [name, PROXY_INSIDE] as const);
    const around = ['NO_PROXY', 'no_proxy'].map((name) => [name, '127.0.0.1,localhost,::1'] as const);
    return {
      ...Object.fromEntries([...kept, ...proxies, ...around]),
      ...this.#toolchains.env,
      PATH: [env.PATH ?? '/usr/bin:/bin', dirname('/run/abp/bin/node')].join(delimiter),
      HOME: HOME_INSIDE,
      TMPDIR: '/tmp',
      NODE_USE_ENV_PROXY: '1',
      IS_SANDBOX: '1',
    };
  }

  /** The file behind a command, the barrier before it, and the environment in which it finds the command that it wants. */
  barrier(
    command: string,
    env: Readonly<Record<string, string>>,
    { folder, shows = [], wants, source }: Behind,
  ): { readonly file: string; readonly barrier: Barrier; readonly env: Readonly<Record<string, string>> } {
    const { equipment, hidden, outside, admit, limits, group } = this.#options;
    const program: Program = programOf(command, env, outside);
    const wanted = wants === undefined ? undefined : wantedOf(wants, env, { folder, outside });
    if (equipment.identity !== undefined) handOver(folder, equipment.identity);
    const workspace = source === undefined ? this.#options.workspace : { ...this.#options.workspace, source, writable: true };
    const places = [
      ...program.places,
      ...(wanted?.places ?? []),
      ...shows.map((path) => shownAsIs(path)),
      ...this.#toolchains.places,
      ...this.#options.places,
      shownAsIs(folder, true),
    ];
    const room = {
      workspace,
      home: this.#home,
      places: withoutRepeats([...places, ...this.#masks([...places, workspace])]),
      hidden,
      outside,
      ports: [GATEWAY_PORT, EGRESS_PORT],
      ...(limits !== undefined && { limits }),
      ...(group !== undefined && { group }),
    };
    const connected = (port: number, socket: Socket): void => (port === GATEWAY_PORT ? admit(socket) : this.#egress.accept(socket));
    return { file: program.file, barrier: barrierOf({ equipment, room, connected }), env: wanted?.env ?? env };
  }

  #masks(shown: readonly Shown[]): Shown[] {
    const { homes, secrets } = this.#options;
    if (secrets.length === 0) return [];
    const empty = join(homes, EMPTY_FILE);
    if (!existsSync(empty)) writeFileSync(empty, '');
    // Whatever the usual rights of new files are here, another user than ours looks at it.
    chmodSync(empty, 0o444);
    return masksFor(secrets, shown, empty);
  }

  /** Links of a run's folder lead into the private home, by the name that it has inside. */
  link(folder: string, links: Readonly<Record<string, string>> = {}): void {
    for (const [name, target] of Object.entries(links)) {
      makeFoldersFor(this.#home, normalize(target).split(sep), insiderOf(this.#options.equipment));
      const place = placeIn(folder, name);
      if (lstatSync(place, { throwIfNoEntry: false }) === undefined) symlinkSync(join(HOME_INSIDE, target), place);
    }
  }

  /** Rules with what the kernel had to stop for them. */
  withStops(rules: readonly RuleRecord[]): readonly RuleRecord[] {
    const { processes = 0, memory = 0 } = this.#options.group?.stopped() ?? {};
    const told: Readonly<Record<string, string>> = {
      ...(processes > 0 && { 'limits.processes': `${processes} starts were refused` }),
      ...(memory > 0 && { 'limits.memoryMb': 'processes were ended for it' }),
    };
    return rules.map((rule) => {
      const more = told[rule.rule.split(':')[0] ?? ''];
      return more === undefined ? rule : { ...rule, detail: `${rule.detail ?? ''}; ${more}` };
    });
  }

  close(): void {
    this.#options.group?.remove();
    this.#egress.close();
  }
}

interface Wanted {
  readonly places: readonly Shown[];
  readonly env: Readonly<Record<string, string>>;
}

/** A command that a program starts itself. The folder of its name may not be there inside, so the run's own folder has a link to its file. */
function wantedOf(
  command: string,
  env: Readonly<Record<string, string>>,
  { folder, outside }: { readonly folder: string; readonly outside: readonly string[] },
): Wanted | undefined {
  if (findCommand(command, env, process.platform) === undefined) return undefined;
  const { file, places } = programOf(command, env, outside);
  const link = placeIn(folder, join(WANTED_FOLDER, command));
  removeTree(link);
  symlinkSync(file, link);
  return { places, env: { ...env, PATH: [dirname(link), env.PATH ?? ''].join(delimiter) } };
}

/** One home per agent and project, so that sessions go on; never the user's own, where a run could plant what the next one runs. */
function privateHome({ homes, agent, project, equipment }: RunRoomOptions): string {
  const home = join(homes, agent, createHash('sha256').update(project).digest('hex').slice(0, 24));
  mkdirSync(home, { recursive: true, mode: 0o700 });
  makeFoldersFor(home, [], insiderOf(equipment));
  return home;
}

/** The user that programs run as inside. */
function insiderOf({ identity }: Equipment): Receiver {
  return identity ?? { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 };
}

function withoutRepeats(places: readonly Shown[]): Shown[] {
  return [...new Map(places.map((place) => [place.at, place])).values()];
}
