import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { asOrdinaryUser } from '../../../test/support/ordinary-user.ts';

/** Removes a folder in a process that the rights of files hold for. */
function removed(path: string): void {
  const module = JSON.stringify(new URL('./remove-tree.ts', import.meta.url).href);
  const [command, ...args] = asOrdinaryUser(['--input-type=module', '-e', `(await import(${module})).removeTree(process.argv[1])`, path]);
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'abp-remove-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('removes folders that a program has closed, at any depth, and nothing behind a link', () => {
  const folder = place();
  const [tree, elsewhere] = [join(folder, 'tree'), join(folder, 'elsewhere')];
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'kept'), 'kept');
  mkdirSync(join(tree, 'closed', 'within'), { recursive: true });
  writeFileSync(join(tree, 'closed', 'within', 'file'), 'x');
  symlinkSync(elsewhere, join(tree, 'closed', 'link'));
  chmodSync(join(tree, 'closed', 'within'), 0o000);
  chmodSync(join(tree, 'closed'), 0o100);
  chmodSync(tree, 0o500);
  removed(tree);
  expect(existsSync(tree)).toBe(false);
  expect(readFileSync(join(elsewhere, 'kept'), 'utf8')).toBe('kept');
});

it('removes closed folders that lie deeper than any path leads', () => {
  const tree = join(place(), 'tree');
  mkdirSync(tree);
  // Each folder is made from inside of the one around it.
  const script = 'for at in $(seq 30); do mkdir "$1" && cd -P "$1" || exit 1; done; echo x > file; chmod 000 .';
  execFileSync('bash', ['-c', script, 'bash', 'd'.repeat(200)], { cwd: tree });
  removed(tree);
  expect(existsSync(tree)).toBe(false);
});

it('is content with a folder that is gone', () => {
  const gone = join(place(), 'gone');
  removed(gone);
  expect(existsSync(gone)).toBe(false);
});
