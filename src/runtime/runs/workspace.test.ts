import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type Snapshot, snapshot, workspaceDelta } from './workspace.ts';

function workspace(): { folder: string; home: string } {
  const folder = mkdtempSync(join(tmpdir(), 'abp-workspace-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, 'home');
  mkdirSync(home);
  writeFileSync(join(home, 'server.lock'), '');
  return { folder, home };
}

const taken = async ({ folder, home }: { folder: string; home: string }): Promise<Snapshot> => (await snapshot(folder, home)) ?? new Map();

it('tells added, changed and removed files by their content', async () => {
  const place = workspace();
  for (const name of ['same', 'changed', 'gone']) writeFileSync(join(place.folder, name), name);
  const before = await taken(place);
  writeFileSync(join(place.folder, 'same'), 'same');
  writeFileSync(join(place.folder, 'changed'), 'other');
  mkdirSync(join(place.folder, 'sub'));
  writeFileSync(join(place.folder, 'sub', 'new'), '');
  rmSync(join(place.folder, 'gone'));
  expect(workspaceDelta(before, await taken(place))).toEqual({
    added: ['sub/new'],
    modified: ['changed'],
    removed: ['gone'],
    patch_sha256: null,
  });
});

it('never touches the home, not even through a link', async () => {
  const place = workspace();
  symlinkSync(join(place.home, 'server.lock'), join(place.folder, 'link'));
  writeFileSync(join(place.folder, 'a'), '');
  expect([...(await taken(place)).keys()]).toEqual(['a']);
});

it('leaves out what git ignores', async () => {
  const place = workspace();
  execFileSync('git', ['init', '-q'], { cwd: place.folder });
  writeFileSync(join(place.folder, '.gitignore'), 'ignored\n');
  for (const name of ['ignored', 'kept']) writeFileSync(join(place.folder, name), name);
  expect([...(await taken(place)).keys()]).toEqual(['.gitignore', 'kept']);
});

it('gives up on a folder with too many files', async () => {
  const place = workspace();
  for (let at = 0; at < 5100; at += 1) writeFileSync(join(place.folder, `${at}`), '');
  expect(await snapshot(place.folder, place.home)).toBeUndefined();
});

it('reads the workspace of a session, which lies in the home, whatever repository the home lies in', async () => {
  const place = workspace();
  execFileSync('git', ['init', '-q'], { cwd: place.folder });
  writeFileSync(join(place.folder, '.gitignore'), 'home\n');
  const folder = join(place.home, 'workspaces', 'session_1');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'made'), '');
  expect([...(await taken({ folder, home: place.home })).keys()]).toEqual(['made']);
  expect([...(await taken(place)).keys()]).toEqual(['.gitignore']);
});
