import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newRunId } from '../../contract/run-id.ts';
import { applyChanges, judgeChanges, undoApply } from './apply-work.ts';
import { kindOf } from './change-set.ts';
import type { DiskShare } from './disk-share.ts';
import type { StagePlan } from './stage-work.ts';
import { type Applied, Stage, tidyStages } from './stages.ts';
import { walkTree } from './tree.ts';

interface Place {
  readonly source: string;
  readonly stages: string;
}

function place(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'abp-stages-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const source = join(folder, 'source');
  mkdirSync(join(source, 'sub', 'deep'), { recursive: true });
  const files = { same: 'same\n', changed: 'one\ntwo\nthree\n', gone: 'gone\n', moved: 'a file that moves\n', 'sub/deep/file': 'deep\n' };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(source, name), text);
  writeFileSync(join(source, 'binary'), Buffer.from([0, 1, 2, 255, 254]));
  writeFileSync(join(source, '.env'), 'SECRET=1');
  symlinkSync('same', join(source, 'link'));
  mkdirSync(join(source, 'empty'));
  return { source, stages: join(folder, 'stages') };
}

const plan = (source: string, part: Partial<StagePlan> = {}): StagePlan => ({
  source,
  include: [],
  exclude: [],
  denyRead: [],
  denyWrite: [],
  borrows: false,
  limits: { files: 10_000, bytes: 1e9 },
  ...part,
});

const staged = ({ source, stages }: Place, part: Partial<StagePlan> = {}): Promise<Stage> =>
  Stage.make(stages, newRunId(), plan(source, part));

/** Everything that stands in a folder, for comparing. */
const picture = (root: string): unknown => [...walkTree(root, () => true)].map(([key, { node }]) => [key, node]).sort();

/** Every kind of change that a tree can have. */
function changeEverything(tree: string): void {
  writeFileSync(join(tree, 'changed'), 'one\n2\nthree\n');
  rmSync(join(tree, 'gone'));
  renameSync(join(tree, 'moved'), join(tree, 'moved-here'));
  writeFileSync(join(tree, 'binary'), Buffer.from([0, 9, 9, 255]));
  chmodSync(join(tree, 'same'), 0o755);
  rmSync(join(tree, 'link'));
  symlinkSync('changed', join(tree, 'link'));
  mkdirSync(join(tree, 'new', 'empty'), { recursive: true });
  writeFileSync(join(tree, 'new', 'a file'), 'without an end of its line');
  writeFileSync(join(tree, 'naïve\n"name"'), 'odd\n');
  rmSync(join(tree, 'sub'), { recursive: true });
  writeFileSync(join(tree, 'sub'), 'a folder became a file\n');
  rmSync(join(tree, 'empty'), { recursive: true });
  mkdirSync(join(tree, 'nested', '.git'), { recursive: true });
  writeFileSync(join(tree, 'nested', '.git', 'config'), '[core]\n\tfsmonitor = evil\n');
  writeFileSync(join(tree, 'nested', 'file'), 'in another repository\n');
}

describe('a stage', () => {
  it('is a copy, and the original is left alone', async () => {
    const here = place();
    const before = picture(here.source);
    const stage = await staged(here);
    expect(picture(stage.tree)).toEqual(before);
    changeEverything(stage.tree);
    await stage.finish();
    expect(picture(here.source)).toEqual(before);
  });

  it('finds every kind of change, also of names that are no text', async () => {
    const here = place();
    const stage = await staged(here);
    changeEverything(stage.tree);
    writeFileSync(Buffer.concat([Buffer.from(`${stage.tree}/`), Buffer.from([0x66, 0xff])]), 'bytes');
    const { changes } = await stage.changes();
    expect(changes.map((change) => `${kindOf(change)} ${change.path}`)).toEqual([
      'modified binary',
      'modified changed',
      'removed empty',
      'added f\ufffd',
      'removed gone',
      'modified link',
      'removed moved',
      'added moved-here',
      'added naïve\n"name"',
      'added nested',
      'added nested/.git',
      'added nested/.git/config',
      'added nested/file',
      'added new',
      'added new/a file',
      'added new/empty',
      'modified same',
      'modified sub',
      'removed sub/deep',
      'removed sub/deep/file',
    ]);
    expect(changes.find(({ path }) => path === 'moved-here')).toMatchObject({ renamedFrom: 'moved' });
    expect(changes.filter(({ held }) => held !== undefined).map(({ path }) => path)).toEqual(['nested/.git', 'nested/.git/config']);
    expect(changes.find(({ path }) => path === 'same')).toMatchObject({ mark: 'it has become executable' });
  });

  it('notices a change that keeps size and time', async () => {
    const stage = await staged(place());
    const file = join(stage.tree, 'changed');
    const { atime, mtime } = lstatSync(file);
    writeFileSync(file, 'one\ntwo\nthrex\n');
    const { utimesSync } = await import('node:fs');
    utimesSync(file, atime, mtime);
    expect((await stage.changes()).changes.map(({ path }) => path)).toEqual(['changed']);
  });

  it('does not hold what may not be read, nor what is excluded, and borrows dependencies', async () => {
    const here = place();
    mkdirSync(join(here.source, 'node_modules', 'x'), { recursive: true });
    const stage = await staged(here, { denyRead: ['**/.env'], exclude: ['sub/**'], borrows: true });
    expect(readdirSync(stage.tree).sort()).toEqual(['binary', 'changed', 'empty', 'gone', 'link', 'moved', 'node_modules', 'same']);
    expect(readdirSync(join(stage.tree, 'node_modules'))).toEqual([]);
    expect(stage.staged.borrowed).toEqual(['node_modules']);
    writeFileSync(join(stage.tree, '.env'), 'made anew');
    const { changes } = await stage.changes();
    expect(changes).toMatchObject([{ path: '.env', held: 'deny_read: **/.env' }]);
  });

  it('takes only what is included', async () => {
    const stage = await staged(place(), { include: ['*.ts', 'sub/**'] });
    expect([...walkTree(stage.tree, () => true).keys()].sort()).toEqual(['empty', 'sub', 'sub/deep', 'sub/deep/file']);
  });

  it('refuses a folder that is too large, with advice, and leaves nothing behind', async () => {
    const here = place();
    await expect(staged(here, { limits: { files: 3, bytes: 1e9 } })).rejects.toThrow(/more than 3 files\. Leave parts of it out/);
    expect(readdirSync(here.stages)).toEqual([]);
  });

  it('has the history of the original, and commits in it change nothing there', async () => {
    const here = place();
    const git = (cwd: string, ...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, encoding: 'utf8' });
    git(here.source, 'init', '-q');
    git(here.source, 'add', '-A');
    git(here.source, 'commit', '-qm', 'first');
    const stage = await staged(here);
    expect(git(stage.tree, 'log', '--format=%s')).toBe('first\n');
    expect(git(stage.tree, 'status', '--porcelain')).toBe('');
    writeFileSync(join(stage.tree, 'same'), 'other\n');
    git(stage.tree, 'commit', '-qam', 'second');
    expect(git(here.source, 'log', '--all', '--format=%s')).toBe('first\n');
    expect((await stage.changes()).changes.map(({ path }) => path)).toEqual(['same']);
  });
});

describe('the patch', () => {
  it('brings a copy of the original to the same state with git apply', async () => {
    const here = place();
    const stage = await staged(here);
    changeEverything(stage.tree);
    rmSync(join(stage.tree, 'nested'), { recursive: true });
    await stage.finish();
    const copy = join(here.stages, 'copy');
    execFileSync('cp', ['-a', here.source, copy]);
    execFileSync('git', ['apply', '--whitespace=nowarn', stage.patchFile], { cwd: copy });
    // Git knows no empty folders.
    rmSync(join(stage.tree, 'new', 'empty'), { recursive: true });
    rmSync(join(copy, 'empty'), { recursive: true, force: true });
    expect(picture(copy)).toEqual(picture(stage.tree));
  });
});

/** How many changes were applied, and the paths that were held back. */
const toldOf = ({ applied, held }: Applied): readonly [number, readonly string[]] => [applied, held.map(({ path }) => path)];

describe('applying', () => {
  it('brings the original to the state of the stage, but for what is held back', async () => {
    const here = place();
    const stage = await staged(here);
    changeEverything(stage.tree);
    const { held, conflicts } = await stage.apply();
    expect(conflicts).toEqual([]);
    expect(held.map(({ path }) => path)).toEqual(['nested/.git/config']);
    rmSync(join(stage.tree, 'nested', '.git'), { recursive: true });
    expect(picture(here.source)).toEqual(picture(stage.tree));
    expect(stage.state).toBe('applied');
  });

  it('applies what is held back when somebody asks for it', async () => {
    const here = place();
    const stage = await staged(here);
    mkdirSync(join(stage.tree, '.vscode'));
    writeFileSync(join(stage.tree, '.vscode', 'settings.json'), '{}');
    writeFileSync(join(stage.tree, '.vscode', 'tasks.json'), '{}');
    expect(toldOf(await stage.apply())).toEqual([0, ['.vscode/settings.json', '.vscode/tasks.json']]);
    expect(existsSync(join(here.source, '.vscode'))).toBe(false);
    expect(toldOf(await stage.apply((path) => path === '.vscode/settings.json'))).toEqual([1, ['.vscode/tasks.json']]);
    expect(readdirSync(join(here.source, '.vscode'))).toEqual(['settings.json']);
    expect(toldOf(await stage.apply((path) => path === '.vscode'))).toEqual([1, []]);
    expect(readdirSync(join(here.source, '.vscode'))).toEqual(['settings.json', 'tasks.json']);
  });

  it('makes no folder for what is held back alone, and keeps one that still holds something', async () => {
    const here = place();
    const kept = join(here.source, 'project', '.idea');
    mkdirSync(kept, { recursive: true });
    for (const file of [join(kept, 'run.xml'), join(here.source, 'project', 'a')]) writeFileSync(file, 'x');
    writeFileSync(join(here.source, 'sub', 'secret'), 'not staged');
    const stage = await staged(here, { exclude: ['sub/secret'] });
    for (const name of ['project', 'sub']) rmSync(join(stage.tree, name), { recursive: true });
    mkdirSync(join(stage.tree, 'made', '.vscode'), { recursive: true });
    writeFileSync(join(stage.tree, 'made', '.vscode', 'settings.json'), '{}');
    expect(toldOf(await stage.apply())).toEqual([2, ['made/.vscode/settings.json', 'project/.idea/run.xml']]);
    expect(existsSync(join(here.source, 'made'))).toBe(false);
    expect(readdirSync(join(here.source, 'project'), { recursive: true })).toEqual(['.idea', '.idea/run.xml']);
    expect(readdirSync(join(here.source, 'sub'))).toEqual(['secret']);
    expect(toldOf(await stage.apply((path) => path === 'project/.idea'))).toEqual([1, ['made/.vscode/settings.json']]);
    expect(existsSync(join(here.source, 'project'))).toBe(false);
  });

  it('puts nothing in the place of a folder that holds what the run did not see', async () => {
    const here = place();
    const stage = await staged(here);
    rmSync(join(stage.tree, 'sub'), { recursive: true });
    writeFileSync(join(stage.tree, 'sub'), 'a folder became a file\n');
    writeFileSync(join(here.source, 'sub', 'mine'), 'made meanwhile');
    const before = picture(here.source);
    expect((await stage.apply()).conflicts).toEqual([{ path: 'sub', reason: 'it holds files that the run did not see' }]);
    expect(picture(here.source)).toEqual(before);
  });

  it('names conflicts and changes nothing', async () => {
    const here = place();
    const stage = await staged(here);
    changeEverything(stage.tree);
    writeFileSync(join(here.source, 'changed'), 'by somebody else\n');
    rmSync(join(here.source, 'same'));
    writeFileSync(join(here.source, 'moved-here'), 'made by somebody else\n');
    const before = picture(here.source);
    expect((await stage.apply()).conflicts).toEqual([
      { path: 'changed', reason: 'it has changed in the workspace meanwhile' },
      { path: 'moved-here', reason: 'it has been made in the workspace meanwhile' },
      { path: 'same', reason: 'it is gone from the workspace' },
    ]);
    expect(picture(here.source)).toEqual(before);
  });

  it('goes through no folder that has become a link', async () => {
    const here = place();
    const stage = await staged(here);
    writeFileSync(join(stage.tree, 'sub', 'deep', 'file'), 'other\n');
    renameSync(join(here.source, 'sub', 'deep'), join(here.source, 'elsewhere'));
    symlinkSync('../elsewhere', join(here.source, 'sub', 'deep'));
    expect((await stage.apply()).conflicts).toEqual([{ path: 'sub/deep/file', reason: 'its folder sub/deep is no folder any more' }]);
    expect(readFileSync(join(here.source, 'elsewhere', 'file'), 'utf8')).toBe('deep\n');
  });

  it('is the same when it is done twice', async () => {
    const here = place();
    const stage = await staged(here);
    changeEverything(stage.tree);
    await stage.apply();
    const once = picture(here.source);
    expect(await stage.apply()).toMatchObject({ conflicts: [], applied: 0 });
    expect(picture(here.source)).toEqual(once);
  });

  it('takes every step back when a later one fails, and when the process was killed', async () => {
    const here = place();
    const stage = await staged(here);
    changeEverything(stage.tree);
    chmodSync(join(here.source, 'empty'), 0o750);
    const rights = (): number => lstatSync(join(here.source, 'empty')).mode & 0o777;
    const before = picture(here.source);
    const { changes } = await stage.changes();
    const { open } = judgeChanges(
      here.source,
      changes.filter(({ held }) => held === undefined),
    );
    const application = { stage: stage.folder, tree: stage.tree, root: here.source, changes: open, owner: undefined };
    const steps: string[] = [];
    const rehearsal = join(here.stages, 'rehearsal');
    execFileSync('cp', ['-a', here.source, rehearsal]);
    applyChanges({ ...application, root: rehearsal, before: (step) => steps.push(step) });
    for (const [fault] of steps.entries()) {
      let at = 0;
      const failing = (): void => {
        at += 1;
        if (at > fault) throw new Error('a fault');
      };
      expect(() => applyChanges({ ...application, before: failing })).toThrow('a fault');
      expect([picture(here.source), rights()]).toEqual([before, 0o750]);
      expect(undoApply(stage.folder)).toBe(false);
    }
    expect(steps.length).toBeGreaterThan(30);
  });
});

describe('tidying', () => {
  it('removes stages by age and by space, and those that were never finished being made', async () => {
    const here = place();
    const old = await staged(here);
    const young = await staged(here);
    for (const stage of [old, young]) await stage.finish();
    const record = JSON.parse(readFileSync(join(old.folder, 'stage.json'), 'utf8')) as object;
    writeFileSync(join(old.folder, 'stage.json'), JSON.stringify({ ...record, createdAt: 0 }));
    mkdirSync(join(here.stages, 'begun'));
    await tidyStages(here.stages).removal;
    expect(readdirSync(here.stages)).toEqual([young.folder.split('/').at(-1)]);
    await tidyStages(here.stages, { keepMs: 1e12, maxBytes: 0 }).removal;
    expect(readdirSync(here.stages)).toEqual([]);
  });
});

it('keeps links as they are', async () => {
  const here = place();
  symlinkSync('/etc/passwd', join(here.source, 'outside'));
  const stage = await staged(here);
  expect(readlinkSync(join(stage.tree, 'outside'))).toBe('/etc/passwd');
  symlinkSync('../../elsewhere', join(stage.tree, 'made'));
  expect((await stage.changes()).changes).toMatchObject([{ path: 'made', held: 'the link leads out of the workspace' }]);
});

describe('the disk of stages', () => {
  const MIB = 1024 * 1024;
  const shareOf = (caller: string): DiskShare => ({ caller, limitBytes: 16 * MIB });

  function filled(mebibytes: number): Place {
    const made = place();
    writeFileSync(join(made.source, 'large'), Buffer.alloc(mebibytes * MIB, 'x'));
    return made;
  }
  const make = ({ source, stages }: Place, caller: string): Promise<Stage> => Stage.make(stages, newRunId(), plan(source), shareOf(caller));

  it('is shared: one caller gets three quarters of it, and somebody else finds room', async () => {
    const one = filled(5);
    await make(one, 'greedy');
    await make(one, 'greedy');
    await expect(make(one, 'greedy')).rejects.toMatchObject({ code: 'overloaded', row: { status: 503, retryable: true } });
    expect(readdirSync(one.stages)).toHaveLength(2);
    const small = { ...filled(2), stages: one.stages };
    await expect(make(small, 'other')).resolves.toBeInstanceOf(Stage);
  });

  it('is freed by the oldest stages of the same caller that nobody works in, and by no others', async () => {
    const one = filled(5);
    const first = await make(one, 'greedy');
    await first.finish();
    const theirs = await make({ ...filled(1), stages: one.stages }, 'other');
    await theirs.finish();
    const second = await make(one, 'greedy');
    await second.finish();
    const third = await make(one, 'greedy');
    expect(readdirSync(one.stages).toSorted()).toEqual([theirs, second, third].map(({ folder }) => basename(folder)).toSorted());
  });

  it('is measured while an agent works', async () => {
    const one = filled(1);
    const stage = await make(one, 'greedy');
    expect(await stage.beyond({ share: shareOf('greedy') })).toBeUndefined();
    writeFileSync(join(stage.tree, 'grown'), Buffer.alloc(14 * MIB, 'y'));
    expect(await stage.beyond({ share: shareOf('greedy') })).toBe('share');
    expect(await stage.beyond({ mostBytes: 1024 })).toBe('limit');
    await expect(make(one, 'other')).rejects.toMatchObject({ code: 'overloaded' });
  });
});
