import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createProfiles, type RunProfiles } from './profiles.ts';

let home: string;
let project: string;
let profiles: RunProfiles;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'abp-profiles-'));
  project = join(home, 'project');
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  profiles = createProfiles({ homePath: home, projectPath: project });
});

describe('profiles', () => {
  it('stand under the options that are given: lists and words are replaced, objects merged, and undefined overrides nothing', () => {
    profiles.set('deep', { model: 'opus', thinkingEffort: 'high', tags: ['a', 'b'], thinkingOverride: { x: 1, y: 1 } });
    expect(
      profiles.apply({ profile: 'deep', agent: 'claude', model: undefined, tags: ['c'], thinkingOverride: { y: 2 }, prompt: 'hi' }),
    ).toEqual({
      profile: 'deep',
      agent: 'claude',
      prompt: 'hi',
      model: 'opus',
      thinkingEffort: 'high',
      tags: ['c'],
      thinkingOverride: { x: 1, y: 2 },
    });
    const plain = { agent: 'claude', prompt: 'hi', cwd: home };
    expect(profiles.apply(plain)).toBe(plain);
  });

  it('are files that only their owner reads', () => {
    profiles.set('quick', { thinkingEffort: 'low' });
    expect(statSync(join(home, 'profiles', 'quick.json')).mode & 0o777).toBe(0o600);
    expect(profiles.show('quick')).toEqual({ thinkingEffort: 'low' });
    profiles.delete('quick');
    expect(() => profiles.show('quick')).toThrow(expect.objectContaining({ code: 'PROFILE_NOT_FOUND' }));
    expect(() => profiles.delete('quick')).toThrow(expect.objectContaining({ code: 'PROFILE_NOT_FOUND' }));
  });

  it('hold nothing that belongs to one run alone', () => {
    for (const one of ['prompt', 'env', 'cwd', 'sessionId', 'forkSessionId', 'noSession', 'attachments', 'agentsDoc', 'profile']) {
      expect(() => profiles.set('x', { [one]: 'y' } as object)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
    }
    expect(() => profiles.set('../x', {})).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
    expect(profiles.list()).toEqual([]);
  });

  it('of a project count where the user has none of that name', () => {
    profiles.set('team', { model: 'sonnet' }, 'project');
    expect(profiles.show('team')).toEqual({ model: 'sonnet' });
    profiles.set('team', { model: 'opus' });
    expect(profiles.show('team')).toEqual({ model: 'opus' });
    expect(profiles.list()).toEqual([
      { name: 'team', scope: 'user' },
      { name: 'team', scope: 'project' },
    ]);
    const other = join(home, 'other');
    createProfiles({ homePath: home, projectPath: other }).set('there', { model: 'haiku' }, 'project');
    expect(profiles.apply({ profile: 'there', cwd: other })).toMatchObject({ model: 'haiku' });
    const alone = createProfiles({ homePath: join(home, 'empty') });
    expect(() => alone.apply({ profile: 'there', cwd: other })).toThrow(expect.objectContaining({ code: 'PROFILE_NOT_FOUND' }));
    expect(() => alone.set('x', {}, 'project')).toThrow(expect.objectContaining({ code: 'CONFIG_ERROR' }));
  });

  it('that are damaged are listed as that, and not used', () => {
    mkdirSync(join(home, 'profiles'));
    writeFileSync(join(home, 'profiles', 'broken.json'), '{"model":');
    writeFileSync(join(home, 'profiles', 'list.json'), '[]');
    writeFileSync(join(home, 'profiles', 'odd.json'), '{"colour":"red"}');
    expect(profiles.list().map(({ name, problem }) => [name, problem !== undefined])).toEqual([
      ['broken', true],
      ['list', true],
      ['odd', true],
    ]);
    expect(() => profiles.show('odd')).toThrow(/odd\.json cannot be used: colour: /);
    expect(() => profiles.apply({ profile: 'broken' })).toThrow(expect.objectContaining({ code: 'CONFIG_ERROR' }));
  });
});
