// `npm run check:licences`: every package of the lock file has a licence that we may pass on. Reads node_modules only, no network.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;

/** Licences under which a package may come with ours. */
const WITH_US = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'CC0-1.0',
  'Unlicense',
  'BlueOak-1.0.0',
  'Python-2.0',
  'PostgreSQL',
]);
/** Licences of tools that only developers of this project use: nothing of them is passed on. */
const FOR_WORK = new Set([...WITH_US, 'MPL-2.0', 'CC-BY-4.0', 'OFL-1.1', 'CC-BY-3.0', 'MIT-0']);
/** Packages that say it in another way, read by hand. */
const BY_HAND: Readonly<Record<string, string>> = { 'humanize-number': 'MIT' };

interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly link?: boolean;
}

interface Described {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string | { readonly type?: string };
  readonly licenses?: readonly { readonly type?: string }[];
}

const locked: Readonly<Record<string, Locked>> = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;

function described(path: string): Described | undefined {
  try {
    return JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
  } catch {
    // Packages for other systems are in the lock file and not on this machine.
    return undefined;
  }
}

function licenceOf({ license, licenses }: Described): string {
  if (typeof license === 'string') return license;
  return license?.type ?? licenses?.map(({ type }) => type ?? '').join(' OR ') ?? '';
}

/** One of several by choice, all of several by necessity. */
function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  const bare = expression.replaceAll(/[()]/g, '').trim();
  if (bare.includes(' OR ')) return bare.split(' OR ').some((one) => isAllowed(one, allowed));
  return bare.split(' AND ').every((one) => allowed.has(one.trim()));
}

const faults: string[] = [];
const counts = new Map<string, number>();
let absent = 0;
for (const [path, { dev = false, link = false }] of Object.entries(locked)) {
  if (path === '' || link) continue;
  const found = described(path);
  if (found === undefined) {
    absent += 1;
    continue;
  }
  const licence = BY_HAND[`${found.name}`] ?? licenceOf(found);
  counts.set(licence, (counts.get(licence) ?? 0) + 1);
  if (!isAllowed(licence, dev ? FOR_WORK : WITH_US))
    faults.push(`${found.name}@${found.version}: ${licence === '' ? 'no licence' : licence}${dev ? ' (for work)' : ''}`);
}
const table = [...counts].toSorted(([, a], [, b]) => b - a).map(([licence, count]) => `${count} ${licence}`);
process.stdout.write(`${table.join(', ')}; ${absent} not on this machine\n`);
for (const fault of faults) process.stderr.write(`not allowed: ${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
