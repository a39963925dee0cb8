import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Puts back into package-lock.json what `npm install` leaves out when the registry it talks to mirrors only some platforms: entries
 * of optional packages for other systems. Without them `npm ci` refuses the lock. They carry no hash, because nobody here has seen
 * their bytes; npm skips them on systems they are not for.
 */
interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

interface Lock {
  packages: Record<string, LockEntry>;
}

const SYSTEMS: Readonly<Record<string, string>> = {
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  openharmony: 'openharmony',
  win32: 'win32',
};
const PROCESSORS: Readonly<Record<string, string>> = {
  x64: 'x64',
  arm64: 'arm64',
  arm: 'arm',
  ppc64: 'ppc64',
  s390x: 's390x',
  wasm32: 'wasm32',
};
/** Without it npm installs a package for musl beside the one for glibc. */
const C_LIBRARIES: Readonly<Record<string, string>> = {
  gnu: 'glibc',
  gnueabihf: 'glibc',
  musl: 'musl',
  musleabihf: 'musl',
};

/** An entry with its members in npm's order. */
function entryOf(name: string, version: string, dev: boolean): LockEntry {
  const words = name.split(/[/-]/);
  const os = words.map((word) => SYSTEMS[word]).find((word) => word !== undefined);
  const cpu = words.map((word) => PROCESSORS[word]).find((word) => word !== undefined);
  const libc = words.map((word) => C_LIBRARIES[word]).find((word) => word !== undefined);
  return {
    version,
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(dev && { dev }),
    ...(libc === undefined ? {} : { libc: [libc] }),
    optional: true,
    ...(os === undefined ? {} : { os: [os] }),
  };
}

/** The lock with an entry for every optional package, in npm's order. */
export function completeLock(lock: Lock): Lock {
  const packages = { ...lock.packages };
  for (const entry of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const path = `node_modules/${name}`;
      if (packages[path]?.integrity !== undefined) continue;
      packages[path] = entryOf(name, version, entry.dev === true);
    }
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  return { ...lock, packages: Object.fromEntries(sorted) };
}

if (import.meta.main) {
  const file = new URL('../package-lock.json', import.meta.url);
  const lock = JSON.parse(readFileSync(file, 'utf8')) as Lock; // npm's own format
  writeFileSync(file, `${JSON.stringify(completeLock(lock), null, 2)}\n`);
}
