import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pathGlob } from '../../base/glob.ts';
import { type PathRules, pathRules } from './path-rules.ts';

let folder: string;
let workspace: string;
let called: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'abp-path-rules-')));
  workspace = join(folder, 'project');
  called = join(folder, 'by-another-name');
  mkdirSync(join(workspace, 'releases', '1'), { recursive: true });
  writeFileSync(join(workspace, 'real.env'), '');
  symlinkSync('releases/1', join(workspace, 'current'));
  symlinkSync('real.env', join(workspace, 'link.env'));
  symlinkSync('project', called);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const covers = (rules: PathRules, path: string): boolean => rules.inside.some((pattern) => pathGlob(pattern)(path));

it.each<[string, string]>([
  ['.env', '.env'],
  ['./.env', '.env'],
  ['a/../.env', '.env'],
  ['a//b/./c', 'a/b/c'],
  ['secrets/', 'secrets'],
  ['**/.env', 'a/b/.env'],
  ['current/**', 'releases/1/x'],
  ['current/**', 'current/x'],
  ['link.env', 'real.env'],
  ['.', 'anything'],
  ['WORKSPACE/.env', '.env'],
  ['WORKSPACE/a/../.env', '.env'],
  ['WORKSPACE', 'anything'],
  ['FOLDER', 'anything'],
  ['FOLDER/**', 'anything'],
  ['FOLDER/*/.env', 'a/.env'],
  ['FOLDER/**/.env', '.env'],
  ['FOLDER/by-*/.env', '.env'],
  ['FOLDER/{project,other}/.env', '.env'],
  ['../project/.env', '.env'],
  ['../*/.env', '.env'],
  ['CALLED/.env', '.env'],
  ['CALLED/current/**', 'releases/1/x'],
])('%s is about %s in the workspace, by whatever name that has', (pattern, path) => {
  const written = pattern.replace('WORKSPACE', workspace).replace('FOLDER', folder).replace('CALLED', called);
  expect(covers(pathRules([written], called), path)).toBe(true);
  if (!pattern.includes('by-')) expect(covers(pathRules([written], workspace), path)).toBe(true);
});

it.each<[string, boolean]>([
  ['FOLDER/other/.env', true],
  ['../other/.env', true],
  ['FOLDER/**/.env', true],
  ['~/.ssh/**', true],
  ['~', true],
  ['WORKSPACE/.env', false],
  ['.env', false],
])('%s reaches out of the workspace: %s', (pattern, reaches) => {
  const written = pattern.replace('WORKSPACE', workspace).replace('FOLDER', folder).replace('CALLED', called);
  expect(pathRules([written], workspace).outside.length > 0).toBe(reaches);
});

it('what lies elsewhere is not about the workspace, and a home is that of the user', () => {
  for (const pattern of ['/data/**', `${folder}/other/**`, `${folder}/project-2/**`])
    expect(pathRules([pattern], workspace).inside).toEqual([]);
  expect(pathRules(['~/.ssh/**'], workspace).outside).toContain(`${homedir()}/.ssh/**`);
});

it.each(['*/../.env', '**/../x', 'a/{b,c}/../x', '{a/..,b}/x', '{..,a}/x'])('%s cannot be followed, and is refused', (pattern) => {
  expect(() => pathRules([pattern], workspace)).toThrow('The policy is not valid');
});
