import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { newRunId } from '../../src/contract/run-id.ts';
import { pathRules } from '../../src/runtime/policy/path-rules.ts';
import { Stage } from '../../src/runtime/workspaces/stages.ts';

const FILES = [
  ...['.env', 'src/.env', 'src/a.ts', 'releases/1/key', 'config/env', 'vault/v', 'packages/own/a.ts'],
  ...['node_modules/pkg/.env', 'node_modules/pkg/index.js'],
];
/** Links, by where they lie. */
const LINKS: Readonly<Record<string, string>> = {
  current: 'releases/1',
  'link.env': 'config/env',
  'public/secrets': '../vault',
  latest: 'current',
  'public/again': '../public',
  self: '.',
  broken: 'nowhere',
  'node_modules/own': '../packages/own',
};

/** A workspace with a history, links, and dependencies; `deny` names what a policy denies in it. */
async function stageWith(deny: { readonly read?: readonly string[]; readonly write?: readonly string[] }): Promise<Stage> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'abp-denied-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const source = join(folder, 'project');
  for (const file of FILES) {
    mkdirSync(dirname(join(source, file)), { recursive: true });
    writeFileSync(join(source, file), file);
  }
  for (const [name, target] of Object.entries(LINKS)) {
    mkdirSync(dirname(join(source, name)), { recursive: true });
    symlinkSync(target, join(source, name));
  }
  linkSync(join(source, 'src/.env'), join(source, 'second-name'));
  execFileSync('git', ['init', '-q', source]);
  return await Stage.make(join(folder, 'stages'), newRunId(), {
    source,
    include: [],
    exclude: [],
    denyRead: pathRules(deny.read ?? [], source).inside,
    denyWrite: pathRules(deny.write ?? [], source).inside,
    borrows: true,
    limits: { files: 1000, bytes: 1e9 },
  });
}

const isIn = (stage: Stage, file: string): boolean => existsSync(join(stage.tree, file));

it.each<[string, string[], string[]]>([
  ['a file', ['.env'], ['.env']],
  ['a file by a detour', ['src/../.env', './src//.env'], ['.env', 'src/.env']],
  ['a folder', ['src'], ['src/.env', 'src/a.ts']],
  ['a folder with a slash behind it', ['src/'], ['src/.env', 'src/a.ts']],
  ['what a link leads to, by the link', ['current/key'], ['releases/1/key']],
  ['a folder that a link leads to', ['current'], ['releases/1/key']],
  ['a file behind a link that a pattern meets', ['*k.env'], ['link.env', 'config/env']],
  ['what a link leads to, by a pattern that meets the link', ['**/current/**'], ['releases/1/key']],
  ['what is in a folder that a link leads to', ['*/secrets/*'], ['vault/v']],
  ['what a link leads to that is in a denied folder', ['public/**'], ['vault/v']],
  ['what is behind two links', ['**/latest/k*'], ['releases/1/key']],
  ['what is behind a link that leads around in a circle', ['public/again/again/secrets/v'], ['vault/v']],
  ['what is behind a link to the workspace', ['self/{vault,config}/**'], ['vault/v', 'config/env']],
  ['a file that has a second name', ['src/**'], ['src/.env', 'second-name']],
  ['a file that has a second name, by that', ['second-*'], ['src/.env', 'second-name']],
  ['everything of a name, dependencies too', ['**/.env'], ['.env', 'src/.env', 'node_modules/pkg/.env']],
])('a staged copy has nothing of %s that must not be read', async (_, read, gone) => {
  const stage = await stageWith({ read });
  expect(gone.filter((file) => isIn(stage, file))).toEqual([]);
  expect(stage.staged.historyLeftOut).toBe('it may hold what deny_read names');
  expect(isIn(stage, '.git')).toBe(false);
});

it('dependencies without anything that must not be read are shown where they are, and others copied without that', async () => {
  expect((await stageWith({ read: ['src/**'] })).staged.borrowed).toEqual(['node_modules']);
  const copied = await stageWith({ read: ['**/.env'] });
  expect(copied.staged.borrowed).toEqual([]);
  expect(isIn(copied, 'node_modules/pkg/index.js')).toBe(true);
});

it('links of dependencies take nothing else away where dependencies must not be read, and nothing is gone that no rule means', async () => {
  const stage = await stageWith({ read: ['node_modules/**', '**/nothing/**'] });
  expect(FILES.filter((file) => !isIn(stage, file))).toEqual(['node_modules/pkg/.env', 'node_modules/pkg/index.js']);
  expect(isIn(await stageWith({ read: ['**/own/*.ts'] }), 'packages/own/a.ts')).toBe(false);
});

it('a workspace of which everything may be read brings its history', async () => {
  const stage = await stageWith({ write: ['src/**'] });
  expect(stage.staged.historyLeftOut).toBeUndefined();
  expect(isIn(stage, '.git')).toBe(true);
});

it.each([['src'], ['src/'], ['src/**'], ['./src/../src'], ['../project/src'], ['../*/src/**']])(
  'with deny_write of %s nothing in that folder is applied, and the rest is',
  async (pattern) => {
    const stage = await stageWith({ write: [pattern] });
    for (const file of ['src/a.ts', 'src/new', 'src/deep/new', 'README']) {
      mkdirSync(dirname(join(stage.tree, file)), { recursive: true });
      writeFileSync(join(stage.tree, file), 'by the agent');
    }
    rmSync(join(stage.tree, 'src/.env'));
    await stage.finish();
    const { applied, held } = await stage.apply();
    expect(applied).toBe(1);
    expect(held.map(({ path }) => path)).toEqual(['src/.env', 'src/a.ts', 'src/deep/new', 'src/new']);
    expect(readFileSync(join(stage.source, 'src/a.ts'), 'utf8')).toBe('src/a.ts');
    expect(existsSync(join(stage.source, 'src/.env'))).toBe(true);
    expect(existsSync(join(stage.source, 'src/deep'))).toBe(false);
  },
);

it.each(['current/**', '**/current/**', 'la*/key'])(
  'with deny_write of a link (%s) nothing is applied to where it leads',
  async (pattern) => {
    const stage = await stageWith({ write: [pattern] });
    writeFileSync(join(stage.tree, 'current/key'), 'by the agent');
    await stage.finish();
    expect((await stage.apply()).held.map(({ path }) => path)).toEqual(['releases/1/key']);
    expect(readFileSync(join(stage.source, 'releases/1/key'), 'utf8')).toBe('releases/1/key');
  },
);
