import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { needing } from '../../../test/support/needs.ts';
import { shareHistory } from './git-history.ts';

const noGit = spawnSync('git', ['--version']).status === 0 ? undefined : 'needs git';

function git(cwd: string, ...args: string[]): string {
  const named = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always', '-c', 'safe.directory=*'];
  return execFileSync('git', [...named, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

/** A repository with one commit. */
function repository(folder: string, name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  git(path, 'init', '-q');
  writeFileSync(join(path, 'a'), name);
  git(path, 'add', '-A');
  git(path, 'commit', '-qm', `of ${name}`);
  return path;
}

function place(): { readonly folder: string; readonly staged: string } {
  const folder = mkdtempSync(join(tmpdir(), 'abp-history-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'staged'));
  return { folder, staged: join(folder, 'staged') };
}

const objectsOf = (repo: string): string => join(repo, '.git', 'objects');

describe.skipIf(noGit !== undefined)(needing('the history of a staged copy', noGit), () => {
  it('is that of a repository', () => {
    const { folder, staged } = place();
    const source = repository(folder, 'own');
    expect(shareHistory(source, staged)).toEqual({ objects: [objectsOf(source)] });
    expect(git(staged, 'log', '--format=%s')).toBe('of own\n');
  });

  it('is that of a worktree, whose repository names it', () => {
    const { folder, staged } = place();
    const main = repository(folder, 'main');
    git(main, 'worktree', 'add', '-q', '../tree');
    expect(shareHistory(join(folder, 'tree'), staged)).toEqual({ objects: [objectsOf(main)] });
    expect(git(staged, 'log', '--format=%s')).toBe('of main\n');
  });

  it('is that of a submodule, whose repository names its files', () => {
    const { folder, staged } = place();
    const [outer, inner] = [repository(folder, 'outer'), repository(folder, 'inner')];
    git(outer, 'submodule', '--quiet', 'add', inner, 'sub');
    expect(shareHistory(join(outer, 'sub'), staged)).toEqual({ objects: [join(outer, '.git/modules/sub/objects')] });
  });

  const PLANTED: Readonly<Record<string, (source: string, victim: string) => void>> = {
    'alternates that name any folder': (source, victim) => {
      mkdirSync(join(objectsOf(source), 'info'), { recursive: true });
      appendFileSync(join(objectsOf(source), 'info', 'alternates'), `${victim}\n`);
    },
    'objects that are a link': (source, victim) => {
      renameSync(objectsOf(source), join(source, '.git', 'kept'));
      symlinkSync(join(victim, '.git', 'objects'), objectsOf(source));
    },
    'another common folder': (source, victim) => writeFileSync(join(source, '.git', 'commondir'), join(victim, '.git')),
    'the repository of somebody else': (source, victim) => {
      rmSync(join(source, '.git'), { recursive: true });
      writeFileSync(join(source, '.git'), `gitdir: ${join(victim, '.git')}\n`);
    },
    'a repository of its own making in a file': (source, victim) => {
      renameSync(join(source, '.git'), join(source, 'made'));
      writeFileSync(join(source, 'made', 'gitdir'), join(source, '.git'));
      writeFileSync(join(source, 'made', 'commondir'), join(victim, '.git'));
      writeFileSync(join(source, '.git'), 'gitdir: made\n');
    },
  };

  it.each(Object.keys(PLANTED))('is left out, with the reason, where the repository leads elsewhere: %s', (name) => {
    const { folder, staged } = place();
    const [source, victim] = [repository(folder, 'own'), repository(folder, 'victim')];
    PLANTED[name]?.(source, victim);
    expect(shareHistory(source, staged)).toEqual({ leftOut: expect.any(String) });
    expect(existsSync(join(staged, '.git'))).toBe(false);
    expect(readFileSync(join(victim, 'a'), 'utf8')).toBe('victim');
  });
});
