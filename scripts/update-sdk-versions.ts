import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Versions = Readonly<Record<string, string>>;

const ROOT = join(import.meta.dirname, '..');
const SDKS = /^(?:@anthropic-ai\/sdk|openai|@google\/genai|ai|@ai-sdk\/.+)$/;

/** The vendors' SDKs among the dev dependencies. */
export function vendorSdks(dependencies: Versions): Versions {
  return Object.fromEntries(Object.entries(dependencies).filter(([name]) => SDKS.test(name)));
}

/** One line for each SDK: name, version before, version after. */
export function versionTable(before: Versions, after: Versions): string {
  const rows = Object.entries(before).map(([name, old]) => {
    const now = after[name] ?? 'gone';
    return [name, old, now === old ? 'is the latest' : `→ ${now}`] as const;
  });
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}

function installed(): Versions {
  return vendorSdks(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).devDependencies);
}

/** `--dry-run` looks up the latest versions and changes nothing. */
function latest(names: readonly string[]): Versions {
  return Object.fromEntries(names.map((name) => [name, `^${npm('view', name, 'version').trim()}`]));
}

function npm(...argv: string[]): string {
  return execFileSync('npm', argv, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

if (import.meta.main) {
  const before = installed();
  const names = Object.keys(before);
  if (process.argv.includes('--dry-run')) console.log(versionTable(before, latest(names)));
  else {
    npm('install', '--save-dev', ...names.map((name) => `${name}@latest`));
    console.log(versionTable(before, installed()));
  }
}
