// Runs the crash suites at their full size, one part after the other: `npm run crash`, `npm run crash -- --only turns-sqlite`. With `--resume`
// parts that have passed on this commit are left out.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** Names of parts, and what vitest runs for each. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  kill: ['test/crash/kill.test.ts'],
  outage: ['test/crash/outage.test.ts'],
  'lost-node': ['test/crash/lost-node.test.ts'],
  fleet: ['test/crash/fleet.test.ts'],
  'turns-postgres': ['test/platform/crash/crash.test.ts', '-t', 'three workers on PostgreSQL'],
  'turns-sqlite': ['test/platform/crash/crash.test.ts', '-t', 'one process on SQLite'],
  restarts: ['test/platform/crash/restarts.test.ts'],
  stages: ['test/sandbox/kill.test.ts'],
  bodies: ['test/recording/crash.test.ts'],
  budgets: ['test/gateway/budget-race.test.ts'],
  notices: ['test/crash/notices.test.ts'],
  'run-keys': ['test/crash/run-keys.test.ts'],
};

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true }, resume: { type: 'boolean', default: false } } });
const named = values.only?.flatMap((names) => names.split(','));
const unknown = named?.find((name) => !Object.hasOwn(PARTS, name));
if (unknown !== undefined) {
  process.stderr.write(`There is no part "${unknown}". Parts are ${Object.keys(PARTS).join(', ')}.\n`);
  process.exit(2);
}

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const folder = new URL('../../node_modules/.cache/abp-crash/', import.meta.url);
const record = new URL('passed.json', folder);
const commit = commitOf();

function commitOf(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    // A package without its history: nothing is resumed.
    return '';
  }
}

/** Parts that have passed on this commit. */
function passedBefore(): string[] {
  try {
    const known = JSON.parse(readFileSync(record, 'utf8'));
    return commit !== '' && known.commit === commit ? known.passed : [];
  } catch {
    // Nothing has passed yet.
    return [];
  }
}

const passed = new Set(values.resume ? passedBefore() : []);
const failed: string[] = [];
const rows: { readonly part: string; readonly outcome: string; readonly seconds: number }[] = [];
for (const name of named ?? Object.keys(PARTS)) {
  if (passed.has(name)) {
    rows.push({ part: name, outcome: 'passed before on this commit', seconds: 0 });
    continue;
  }
  const started = performance.now();
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...(PARTS[name] ?? []), '--reporter=verbose'], {
    stdio: 'inherit',
    env: { ...process.env, ABP_CRASH: 'all', ABP_CRASH_ROUNDS: process.env.ABP_CRASH_ROUNDS ?? '20' },
  });
  if (status === 0) passed.add(name);
  else failed.push(name);
  rows.push({ part: name, outcome: status === 0 ? 'passed' : 'failed', seconds: Math.round((performance.now() - started) / 1000) });
  mkdirSync(folder, { recursive: true });
  writeFileSync(record, JSON.stringify({ commit, passed: [...passed] }));
}
process.stdout.write(`\n| part | outcome | seconds |\n|---|---|--:|\n`);
for (const { part, outcome, seconds } of rows) process.stdout.write(`| ${part} | ${outcome} | ${seconds} |\n`);
process.stdout.write(`passed: ${[...passed].join(', ') || 'none'}; failed: ${failed.join(', ') || 'none'}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
