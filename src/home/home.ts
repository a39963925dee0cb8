import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { randomToken, uuidv7Hex } from '../base/ids.ts';
import { makeFolders } from '../base/paths/make-folders.ts';
import { AbpError } from '../contract/errors.ts';
import { readAddress, type ServerAddress } from './address.ts';
import { type KeySecret, keySecretOf } from './key-secret.ts';
import { createOnce, replaceFile } from './private-file.ts';
import { isServed, lockServer, type ServerLock } from './server-lock.ts';

/** The folder that holds everything one installation keeps. */
export interface Home {
  readonly path: string;
  /** The folder that all processes of the installation share; that of the first process, which is `path` where there is one process. */
  readonly installation: string;
  readonly journalFolder: string;
  readonly bodiesFolder: string;
  readonly databaseFile: string;
  /** Its holder may do anything on this home's server. */
  readonly token: string;
  /** The secret that rows of keys are authenticated with. */
  keySecret(): KeySecret;
  /** Names this home in receipts and journals; it never changes. */
  readonly nodeId: string;
  /** Whether a live process is the server of this home; one that begins or ends has no address. */
  isServed(): boolean;
  /** Where a live server of this home answers; undefined when none runs. */
  readAddress(): ServerAddress | undefined;
  writeAddress(address: ServerAddress): void;
  removeAddress(): void;
  /** Makes this process the one server of the home until it ends or releases the lock; throws `conflict` when there is another. */
  lockServer(): ServerLock;
}

export interface HomeOptions {
  /** Default: `ABP_HOME`, else `~/.abp`. */
  readonly path?: string | undefined;
}

/** The folder a home lies in, whether it exists or not. */
export function homePath(path: string | undefined): string {
  return resolve(path || process.env.ABP_HOME || join(homedir(), '.abp'));
}

function refuse(path: string, reason: string): AbpError {
  const hint = 'Set ABP_HOME to a folder that you may write, or name one with --home.';
  return new AbpError('CONFIG_ERROR', `the home ${path} ${reason}`, { path }, hint);
}

/** Faults of a folder that somebody must make writable; all others are faults of ours. */
const NOT_WRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'EEXIST']);

/** Does work in the home; where the system does not let it write there, the error says so. */
function inHome<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && NOT_WRITABLE.has(String(error.code)))) throw error;
    throw refuse(path, `cannot be written (${error.message})`);
  }
}

function createFolder(path: string): Stats {
  try {
    makeFolders(path, 0o700);
    return statSync(path);
  } catch (error) {
    throw refuse(path, `cannot be created (${error instanceof Error ? error.message : String(error)})`);
  }
}

function tryChmod(path: string): void {
  try {
    chmodSync(path, 0o700);
  } catch {
    // Whether the folder is private now is decided by looking at it again: some file systems ignore chmod without an error.
  }
}

/** Windows has neither owner ids nor permission bits; there the user profile's access list protects the folder. */
function openPrivateFolder(path: string): void {
  const stats = createFolder(path);
  if (process.getuid === undefined) return;
  if (stats.uid !== process.getuid()) throw refuse(path, `belongs to another user (uid ${stats.uid})`);
  if ((stats.mode & 0o777) === 0o700) return;
  tryChmod(path);
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) !== 0) throw refuse(path, `is open to other users (mode ${mode.toString(8)}) and cannot be closed`);
}

/** A secret or id that is made once and read ever after. */
function stableValue(file: string, make: () => string): string {
  createOnce(file, make);
  const value = readFileSync(file, 'utf8').trim();
  // An empty token would let everyone in.
  if (!/^[\w-]{32,}$/.test(value)) throw new AbpError('internal', `${file} is damaged; delete it to get a new one`);
  return value;
}

/** Opens the home, creating what is missing. Only its owner can enter the folder. */
export function openHome(options: HomeOptions = {}): Home {
  const path = homePath(options.path);
  return existsSync(join(path, FURTHER)) ? furtherHome(path) : homeAt(path);
}

const PROCESSES = 'processes';
/** A file in the folder of a further process, so that its folder alone is not taken for an installation. */
const FURTHER = 'further-process';

/**
 * The home of a further process of an installation. It is a node of its own, with its own journal, chain and lock; the token, the secret of
 * keys and the database are those of the installation, so that every process knows the same callers. A further process serves on PostgreSQL
 * alone; its receipts may have come to SQLite with a backup.
 */
export function openProcessHome(first: Home, number: number): Home {
  const path = join(first.path, PROCESSES, String(number));
  openPrivateFolder(path);
  inHome(path, () => createOnce(join(path, FURTHER), () => String(number)));
  return furtherHome(path);
}

function furtherHome(path: string): Home {
  const first = homeAt(resolve(path, '..', '..'));
  const { path: installation, keySecret, databaseFile } = first;
  return { ...homeAt(path, first.token), installation, keySecret, databaseFile };
}

/** Folders of all processes that an installation has ever had, by their numbers; the first has the folder of the installation. */
export function processFolders(installation: string): ReadonlyMap<number, string> {
  const folder = join(installation, PROCESSES);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^[1-9]\d{0,3}$/.test(name)) : [];
  const further = names.map(Number).sort((a, b) => a - b);
  return new Map([[1, installation], ...further.map((number) => [number, join(folder, String(number))] as const)]);
}

function homeAt(path: string, sharedToken?: string): Home {
  openPrivateFolder(path);
  const journalFolder = join(path, 'journal');
  const bodiesFolder = join(path, 'bodies');
  const { token, nodeId } = inHome(path, () => {
    for (const folder of [journalFolder, bodiesFolder]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    return {
      token: sharedToken ?? stableValue(join(path, 'token'), () => randomToken(32)),
      nodeId: stableValue(join(path, 'node-id'), () => `node_${uuidv7Hex()}`),
    };
  });
  const addressFile = join(path, 'address');
  const lockFile = join(path, 'server.lock');
  return {
    path,
    installation: path,
    journalFolder,
    bodiesFolder,
    databaseFile: join(path, 'abp.db'),
    token,
    keySecret: () => inHome(path, () => keySecretOf(join(path, 'key-secret'), process.env.ABP_KEY_SECRET || undefined)),
    nodeId,
    isServed: () => isServed(lockFile),
    readAddress: () => (isServed(lockFile) ? readAddress(addressFile) : undefined),
    writeAddress: (address) => replaceFile(addressFile, JSON.stringify(address)),
    removeAddress: () => rmSync(addressFile, { force: true }),
    lockServer: () => lockServer(lockFile, addressFile),
  };
}
