import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { asOrdinaryUser } from '../../../test/support/ordinary-user.ts';
import { newRunId } from '../../contract/run-id.ts';
import { Stage } from './stages.ts';
import { diskOf, walkTree } from './tree.ts';

function place(): { source: string; stages: string } {
  const folder = mkdtempSync(join(tmpdir(), 'abp-left-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const source = join(folder, 'source');
  mkdirSync(source);
  writeFileSync(join(source, 'kept'), 'kept');
  return { source, stages: join(folder, 'stages') };
}

const plan = (source: string) => ({
  source,
  include: [],
  exclude: [],
  denyRead: [],
  denyWrite: [],
  borrows: false,
  limits: { files: 100, bytes: 1e6 },
});

/** Stages, closes files and folders as an agent may, compares, applies and removes, in a process that the rights of files hold for. */
const CLOSED = `
const { chmodSync, mkdirSync, writeFileSync } = await import('node:fs');
const { newRunId } = await import(process.argv[2]);
const { Stage, tidyStages } = await import(process.argv[1]);
const { source, stages, plan } = JSON.parse(process.argv[3]);
const stage = await Stage.make(stages, newRunId(), plan);
mkdirSync(stage.tree + '/closed/within', { recursive: true });
writeFileSync(stage.tree + '/closed/within/file', 'within');
writeFileSync(stage.tree + '/secret', 'secret');
chmodSync(stage.tree + '/secret', 0o000);
chmodSync(stage.tree + '/closed/within', 0o100);
chmodSync(stage.tree + '/closed', 0o000);
const changes = await stage.changes();
console.log(changes.changes.map(({ path }) => path).join(' '));
console.log((await stage.apply()).applied);
chmodSync(stage.tree + '/closed', 0o000);
await tidyStages(stages, { keepMs: 0, maxBytes: 0 }, Date.now() + 1000).removal;
`;

it('is compared, applied and removed where an agent has closed it to everybody', () => {
  const { source, stages } = place();
  const url = (path: string): string => new URL(path, import.meta.url).href;
  const given = JSON.stringify({ source, stages, plan: plan(source) });
  const [command, ...args] = asOrdinaryUser([
    ...['--input-type=module', '-e', CLOSED],
    ...[url('./stages.ts'), url('../../contract/run-id.ts'), given],
  ]);
  expect(execFileSync(command, args, { encoding: 'utf8' })).toBe('closed closed/within closed/within/file secret\n2\n');
  expect(readFileSync(join(source, 'closed', 'within', 'file'), 'utf8')).toBe('within');
  expect(readdirSync(stages)).toEqual([]);
});

it('is told by name, and not applied, where it lies deeper than any path leads', async () => {
  const { source, stages } = place();
  const stage = await Stage.make(stages, newRunId(), plan(source));
  writeFileSync(join(stage.tree, 'new'), 'new');
  const script = 'for at in $(seq 25); do mkdir "$1" && cd -P "$1" || exit 1; done; echo x > file';
  execFileSync('bash', ['-c', script, 'bash', 'd'.repeat(200)], { cwd: stage.tree });
  const { changes } = await stage.changes();
  const deepest = changes.findLast(({ path }) => path.startsWith('ddd'));
  expect(deepest).toMatchObject({ after: { type: 'special', tooDeep: true }, held: 'its path is longer than the system takes' });
  expect(await stage.apply()).toMatchObject({ conflicts: [], applied: 1 });
  expect(readdirSync(source).sort()).toEqual(['kept', 'new']);
  await stage.remove();
  expect(readdirSync(stages)).toEqual([]);
});

it('is applied with what is new no more open than the agent has left it', async () => {
  const { source, stages } = place();
  const stage = await Stage.make(stages, newRunId(), plan(source));
  for (const [name, mode] of Object.entries({ key: 0o600, script: 0o700, open: 0o666, closed: 0o000 })) {
    writeFileSync(join(stage.tree, name), name);
    chmodSync(join(stage.tree, name), mode);
  }
  for (const [name, mode] of Object.entries({ own: 0o700, shared: 0o777 })) {
    mkdirSync(join(stage.tree, name));
    chmodSync(join(stage.tree, name), mode);
  }
  expect((await stage.apply()).conflicts).toEqual([]);
  const rights = readdirSync(source).map((name) => `${name} ${(statSync(join(source, name)).mode & 0o777).toString(8)}`);
  expect(rights.sort()).toEqual(['closed 600', 'kept 644', 'key 600', 'open 644', 'own 700', 'script 700', 'shared 755']);
});

it('is applied once, where several processes apply it at the same moment', async () => {
  const { source, stages } = place();
  const run = newRunId();
  const stage = await Stage.make(stages, run, plan(source));
  for (let at = 0; at < 200; at += 1) writeFileSync(join(stage.tree, `new-${at}`), `${at}`);
  await stage.finish();
  const script = fileURLToPath(new URL('../../../test/sandbox/apply-process.ts', import.meta.url));
  const apply = promisify(execFile);
  const said = await Promise.all([1, 2, 3, 4].map(async () => (await apply(process.execPath, [script, stages, run])).stdout));
  expect(said.sort()).toEqual(['0 0\n', '0 0\n', '0 0\n', '200 0\n']);
  expect(readdirSync(source).filter((name) => name.startsWith('.abp'))).toEqual([]);
  expect(readdirSync(source)).toHaveLength(201);
});

it('of two runs in one folder is applied one after the other: the later one meets the work of the first', async () => {
  const { source, stages } = place();
  const both = await Promise.all([newRunId(), newRunId()].map((run) => Stage.make(stages, run, plan(source))));
  for (const [at, { tree }] of both.entries()) for (const name of ['kept', 'made']) writeFileSync(join(tree, name), `by run ${at}`);
  const outcomes = await Promise.all(both.map((stage) => stage.apply()));
  expect(outcomes.map(({ applied }) => applied).sort()).toEqual([0, 2]);
  expect(new Set(['kept', 'made'].map((name) => readFileSync(join(source, name), 'utf8'))).size).toBe(1);
});

it('is walked up to a number of files', () => {
  const { source } = place();
  for (const name of ['a', 'b', 'c']) writeFileSync(join(source, name), '');
  expect(walkTree(source, () => true, new Map(), { mostFiles: 4 }).size).toBe(4);
  expect(() => walkTree(source, () => true, new Map(), { mostFiles: 3 })).toThrow('it has more than 3 files');
});

it('counts for its disk also where its files are empty: there is only room for so many', () => {
  const { source } = place();
  for (let at = 0; at < 99; at += 1) writeFileSync(join(source, `empty-${at}`), '');
  chmodSync(source, 0o755);
  expect(diskOf(source)).toBe(100 * 4096);
});

it('is removed on another thread, and is nothing that can be opened from the first moment on', async () => {
  const { source, stages } = place();
  for (let at = 0; at < 90; at += 1) writeFileSync(join(source, `file-${at}`), 'x');
  const run = newRunId();
  const stage = await Stage.make(stages, run, plan(source));
  for (let at = 0; at < 1000; at += 1) writeFileSync(join(stage.tree, `left-${at}`), 'x');
  const removal = stage.remove();
  expect(readdirSync(stage.tree).length).toBeGreaterThan(0);
  expect(Stage.open(stages, run)).toBeUndefined();
  await removal;
  expect(readdirSync(stages)).toEqual([]);
});

it('is nothing where a folder holds more than is copied, or is the whole machine', async () => {
  const { source, stages } = place();
  for (let at = 0; at < 200; at += 1) writeFileSync(join(source, `file-${at}`), 'x');
  await expect(Stage.make(stages, newRunId(), plan(source))).rejects.toThrow('more than 100 files');
  await expect(Stage.make(stages, newRunId(), plan('/'))).rejects.toThrow('/ is the whole machine');
  expect(readdirSync(stages)).toEqual([]);
});
