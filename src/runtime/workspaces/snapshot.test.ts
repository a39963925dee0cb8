import { chmodSync, existsSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type Snapshot, snapshot, workspaceDelta } from './snapshot.ts';

function workspace(): { folder: string; home: string } {
  const folder = mkdtempSync(join(tmpdir(), 'abp-workspace-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, 'home');
  mkdirSync(home);
  writeFileSync(join(home, 'server.lock'), '');
  return { folder, home };
}

const NOTHING: Snapshot = { files: new Map(), ignored: [] };
const taken = async ({ folder, home }: { folder: string; home: string }, earlier?: Snapshot): Promise<Snapshot> =>
  (await snapshot(folder, home, earlier)) ?? NOTHING;
const namesIn = (seen: Snapshot): string[] => [...seen.files.keys()];

it('tells added, changed and removed files by their content', async () => {
  const place = workspace();
  for (const name of ['same', 'changed', 'gone']) writeFileSync(join(place.folder, name), name);
  const before = await taken(place);
  writeFileSync(join(place.folder, 'same'), 'same');
  writeFileSync(join(place.folder, 'changed'), 'other');
  mkdirSync(join(place.folder, 'sub'));
  writeFileSync(join(place.folder, 'sub', 'new'), '');
  rmSync(join(place.folder, 'gone'));
  expect(workspaceDelta(before, await taken(place, before))).toEqual({
    added: ['sub/new'],
    modified: ['changed'],
    removed: ['gone'],
    patch_sha256: null,
  });
});

it('never reads the home, not even through a link or a second name of one of its files', async () => {
  const place = workspace();
  symlinkSync(join(place.home, 'server.lock'), join(place.folder, 'link'));
  linkSync(join(place.home, 'server.lock'), join(place.folder, 'second-name'));
  writeFileSync(join(place.folder, 'a'), '');
  const { files } = await taken(place);
  expect([...files.keys()]).toEqual(['a', 'link', 'second-name']);
  expect(files.get('link')).toMatch(/ .*server\.lock$/);
  // By size and time: a digest would need the file to be opened and closed, and its locks would be gone.
  expect(files.get('second-name')).toMatch(/^\d+ 0 [\d.]+$/);
});

it('sees a link that leads elsewhere and a file that may be run', async () => {
  const place = workspace();
  symlinkSync('a', join(place.folder, 'link'));
  writeFileSync(join(place.folder, 'a'), '', { mode: 0o644 });
  const before = await taken(place);
  rmSync(join(place.folder, 'link'));
  symlinkSync('b', join(place.folder, 'link'));
  chmodSync(join(place.folder, 'a'), 0o755);
  expect(workspaceDelta(before, await taken(place, before)).modified).toEqual(['a', 'link']);
});

it('runs no program that the configuration of the repository names', async () => {
  const place = workspace();
  const proof = join(place.home, 'executed');
  mkdirSync(join(place.folder, '.git'));
  writeFileSync(join(place.folder, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(place.folder, '.git', 'config'), `[core]\n\tfsmonitor = "touch ${proof}; false"\n`);
  writeFileSync(join(place.folder, 'a'), '');
  const before = await taken(place);
  expect(namesIn(await taken(place, before))).toEqual(['a']);
  expect(existsSync(proof)).toBe(false);
});

it('does not let an agent hide a file by ignoring it', async () => {
  const place = workspace();
  mkdirSync(join(place.folder, '.git'));
  writeFileSync(join(place.folder, 'seen'), '');
  const before = await taken(place);
  writeFileSync(join(place.folder, '.gitignore'), '*\n');
  writeFileSync(join(place.folder, 'hidden'), '');
  expect(workspaceDelta(before, await taken(place, before)).added).toEqual(['.gitignore', 'hidden']);
});

it('goes by the rules of the repository above and of folders below', async () => {
  const place = workspace();
  const folder = join(place.folder, 'packages', 'app');
  mkdirSync(join(place.folder, '.git'));
  mkdirSync(join(folder, 'sub'), { recursive: true });
  writeFileSync(join(place.folder, '.gitignore'), '/packages/app/out\n*.tmp\n');
  writeFileSync(join(folder, 'sub', '.gitignore'), 'own\n');
  for (const name of ['out', 'a.tmp', 'own', 'sub/own', 'sub/kept']) writeFileSync(join(folder, name), '');
  expect(namesIn(await taken({ folder, home: place.home }))).toEqual(['own', 'sub/.gitignore', 'sub/kept']);
});

it('leaves out what .gitignore names', async () => {
  const place = workspace();
  mkdirSync(join(place.folder, '.git'));
  writeFileSync(join(place.folder, '.gitignore'), 'ignored\n');
  for (const name of ['ignored', 'kept']) writeFileSync(join(place.folder, name), name);
  expect(namesIn(await taken(place))).toEqual(['.gitignore', 'kept']);
});

it('gives up on a folder with too many files', async () => {
  const place = workspace();
  for (let at = 0; at < 20_100; at += 1) writeFileSync(join(place.folder, `${at}`), '');
  expect(await snapshot(place.folder, place.home)).toBeUndefined();
});

it('reads the workspace of a session, which lies in the home, whatever repository the home lies in', async () => {
  const place = workspace();
  mkdirSync(join(place.folder, '.git'));
  writeFileSync(join(place.folder, '.gitignore'), 'home\n');
  const folder = join(place.home, 'workspaces', 'session_1');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'made'), '');
  expect(namesIn(await taken({ folder, home: place.home }))).toEqual(['made']);
  expect(namesIn(await taken(place))).toEqual(['.gitignore']);
});
