/**
 * Runs the README's two commands where people really clone: `npm run test:places [part of a name …]`. A place that this user may not make
 * is counted as not tried. Each place is a clone of the committed tree in a folder of its own, which is removed afterwards.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { availableParallelism, homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { environmentOf, PLACES, type Place, variables } from './places.ts';

/** Suites that touch files, processes, PostgreSQL, the sandbox, the browser and the command line. */
const SUITES = [
  'src/base',
  'src/home',
  'test/store',
  'test/platform/sandbox',
  'test/e2e/browser.test.ts',
  'test/e2e/cli-cold-start.test.ts',
  'test/gateway/broken-connections.test.ts',
  'test/runs/cli.test.ts',
  'test/runs/crash.test.ts',
  'test/runs/orphans.test.ts',
  'test/runs/run-keys.test.ts',
];
const USER = 'abp-places';
/** A net below a command that never ends. */
const PLACE_MS = 60 * 60_000;
const isRoot = process.getuid?.() === 0;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Identity {
  readonly uid: number;
  readonly gid: number;
}

interface Outcome {
  readonly place: string;
  readonly install: string;
  readonly test: string;
  readonly start: string;
  readonly seconds: number;
}

function ordinaryUser(): Identity {
  const id = (flag: string): number => Number(execFileSync('id', [flag, USER], { encoding: 'utf8' }));
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    // The first run on this machine: the user is not there yet.
    execFileSync('useradd', ['--create-home', USER]);
    return { uid: id('-u'), gid: id('-g') };
  }
}

interface Shell {
  readonly code: number | null;
  readonly output: string;
}

/** One line of a shell in the place, to its end; `stop` ends its whole group. */
function shell(line: string, options: { cwd: string; env: Record<string, string>; place: Place; identity: Identity | undefined }) {
  const { place, identity } = options;
  const script = [place.before, line].filter((part) => part !== undefined).join('\n');
  const [program = 'sh', ...rest] = [...(place.wrapper ?? []), 'sh', '-ec', script];
  const child = spawn(program, rest, {
    ...identity,
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  const stop = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
  };
  const timer = setTimeout(() => stop('SIGKILL'), PLACE_MS);
  const ended = once(child, 'close').then(([code]): Shell => {
    clearTimeout(timer);
    return { code, output };
  });
  return { ended, stop, printed: () => output };
}

const closingLine = ({ code, output }: Shell): string => {
  const counts = /^\d+ passed, \d+ failed.*$/m.exec(output)?.[0];
  return code === 0 ? (counts ?? 'ran no test') : `exit ${code}: ${counts ?? output.trim().split('\n').slice(-3).join(' | ')}`;
};

const READY = / on http:\/\/\S+/;

/** Serves until it is ready, then is asked to end; or ends by itself. */
async function serve(options: Parameters<typeof shell>[1]): Promise<Shell & { readonly seconds: string }> {
  const begun = Date.now();
  const server = shell('npm start', options);
  let over = false;
  void server.ended.then(() => (over = true));
  while (!over && !READY.test(server.printed())) await wait(50);
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  server.stop('SIGTERM');
  return { ...(await server.ended), seconds };
}

const lastLines = (output: string): string => output.trim().split('\n').slice(-2).join(' | ');

/** A first start on a free port, a second one on the same home, and one that must be refused where the place has such. */
async function tryStart(options: Parameters<typeof shell>[1]): Promise<string> {
  const env = { ...options.env, ABP_PORT: '0' };
  const [first, second] = [await serve({ ...options, env }), await serve({ ...options, env })];
  const failed = [first, second].find(({ output }) => !READY.test(output));
  if (failed !== undefined) return `failed: ${lastLines(failed.output)}`;
  const ready = `ready in ${first.seconds} s, again in ${second.seconds} s`;
  const { refused } = options.place;
  if (refused === undefined) return ready;
  const { code, output } = await serve({ ...options, env: variables({ ...env, ...refused.environment }) });
  return code !== 0 && refused.says.test(output)
    ? `${ready}, refused in words`
    : `failed: it should say ${refused.says}: ${lastLines(output)}`;
}

/** Listens on a port, if nobody does yet. */
async function take(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
  }
  return server;
}

/** The clones of a place, owned by the one who will work in them, in a folder that only that one can enter. */
function makeClones(place: Place, root: string, identity: Identity | undefined): readonly string[] {
  const clones = (place.twice === true ? ['one', 'two'] : ['one']).map((name) => join(root, place.folder ?? '', name));
  for (const clone of clones) execFileSync('git', ['clone', '-q', ROOT, clone]);
  if (identity !== undefined) execFileSync('chown', ['-R', `${identity.uid}:${identity.gid}`, root]);
  chmodSync(root, 0o700);
  return clones;
}

/** Starts the test command, and ends it without mercy in the middle of its work. */
async function beginAndKill(command: string, options: Parameters<typeof shell>[1]): Promise<void> {
  const first = shell(command, options);
  while (!first.printed().includes('✓')) await wait(100);
  first.stop('SIGKILL');
  await first.ended;
}

async function tryClones(
  place: Place,
  clones: readonly string[],
  parts: Omit<Parameters<typeof shell>[1], 'cwd'>,
): Promise<Omit<Outcome, 'seconds'>> {
  // A network of its own cannot reach a registry, so the installation happens outside of what the place wraps around the tests.
  const plain: Place = { name: place.name, ...(place.wrapper === undefined && place.before !== undefined && { before: place.before }) };
  const installs = await Promise.all(clones.map((cwd) => shell('npm ci', { ...parts, cwd, place: plain }).ended));
  const failed = installs.find(({ code }) => code !== 0);
  if (failed !== undefined) return { place: place.name, install: closingLine(failed), test: '-', start: '-' };
  const command = `npm test -- ${SUITES.join(' ')}`;
  const [first = ROOT] = clones;
  if (place.killed === true) await beginAndKill(command, { ...parts, cwd: first });
  const tests = await Promise.all(clones.map((cwd) => shell(command, { ...parts, cwd }).ended));
  const bad = tests.filter(({ code }) => code !== 0);
  if (bad.length > 0) writeFileSync(join(tmpdir(), `abp-place-${PLACES.indexOf(place)}.log`), bad.map(({ output }) => output).join('\n'));
  return { place: place.name, install: 'ok', test: tests.map(closingLine).join('; '), start: await tryStart({ ...parts, cwd: first }) };
}

async function tryPlace(place: Place): Promise<Outcome> {
  const begun = Date.now();
  const identity = place.user === true && isRoot ? ordinaryUser() : undefined;
  const root = mkdtempSync(join(identity === undefined ? homedir() : `/home/${USER}`, 'place-'));
  for (const name of ['home', 'tmp here', 'abp home']) mkdirSync(join(root, name));
  const taken = place.taken === undefined ? undefined : await take(place.taken);
  const loads =
    place.busy === true ? Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ['-e', 'for (;;);'])) : [];
  try {
    const env = environmentOf(place, root);
    const outcome = await tryClones(place, makeClones(place, root, identity), { env, place, identity });
    return { ...outcome, seconds: Math.round((Date.now() - begun) / 1000) };
  } finally {
    for (const load of loads) load.kill('SIGKILL');
    taken?.close();
    rmSync(root, { recursive: true, force: true });
  }
}

const isGood = ({ install, test, start }: Outcome): boolean =>
  install === 'ok' && /^(\d+ passed, 0 failed[^;]*(; )?)+$/.test(test) && start.startsWith('ready');

const wanted = process.argv.slice(2);
const chosen = PLACES.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
const skipped = chosen.filter((place) => place.needsRoot === true && !isRoot);
const outcomes: Outcome[] = [];
for (const place of chosen.filter((candidate) => !skipped.includes(candidate))) {
  process.stdout.write(`${place.name} …\n`);
  const outcome = await tryPlace(place);
  outcomes.push(outcome);
  process.stdout.write(
    `  ${isGood(outcome) ? 'ok' : 'FAILED'} · npm ci: ${outcome.install} · npm test: ${outcome.test} · npm start: ${outcome.start} · ${outcome.seconds} s\n`,
  );
}
for (const { name } of skipped) process.stdout.write(`${name}: not tried, needs root\n`);
const failed = outcomes.filter((outcome) => !isGood(outcome));
process.stdout.write(
  `\n| place | npm ci | npm test | npm start |\n|---|---|---|---|\n${outcomes.map(({ place, install, test, start }) => `| ${place} | ${install} | ${test} | ${start} |\n`).join('')}`,
);
process.stdout.write(`${outcomes.length - failed.length} passed, ${failed.length} failed, ${skipped.length} skipped\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
