import { existsSync, linkSync, lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { needing } from '../../../../test/support/needs.ts';
import { handOver, makeFoldersFor } from './hand-over.ts';

const AGENT = { uid: 65_534, gid: 65_534 };
const notRoot = process.platform === 'linux' && process.getuid?.() === 0 ? undefined : 'only root on Linux gives files away';

describe.skipIf(notRoot !== undefined)(needing('things that root gives to the user of an agent', notRoot), () => {
  let [theirs, system] = ['', ''];
  beforeEach(() => {
    const folder = mkdtempSync(join(tmpdir(), 'abp-hand-over-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    [theirs, system] = [join(folder, 'theirs'), join(folder, 'system')];
    for (const path of [join(theirs, 'sub', 'deep'), join(system, 'inner')]) mkdirSync(path, { recursive: true });
    for (const path of [join(theirs, 'sub', 'deep', 'file'), join(system, 'shadow')]) writeFileSync(path, 'x');
  });
  const ownerOf = (path: string): number => statSync(path).uid;

  it('is a folder with everything in it', () => {
    handOver(theirs, AGENT);
    for (const path of ['', 'sub', 'sub/deep', 'sub/deep/file']) expect(ownerOf(join(theirs, path))).toBe(AGENT.uid);
  });

  it('is nothing behind a link or a second name', () => {
    symlinkSync(join(system, 'shadow'), join(theirs, 'link'));
    symlinkSync(system, join(theirs, 'sub', 'away'));
    linkSync(join(system, 'shadow'), join(theirs, 'name'));
    handOver(theirs, AGENT);
    handOver(join(theirs, 'sub', 'away'), AGENT);
    for (const path of ['', 'shadow', 'inner']) expect(ownerOf(join(system, path))).toBe(0);
  });

  it('is nothing that has gone meanwhile', () => {
    handOver(join(theirs, 'gone'), AGENT);
    expect(existsSync(join(theirs, 'gone'))).toBe(false);
  });

  it('is a folder that is made inside of theirs, through no link', () => {
    makeFoldersFor(theirs, ['a', 'b'], AGENT);
    expect([ownerOf(theirs), ownerOf(join(theirs, 'a')), ownerOf(join(theirs, 'a/b'))]).toEqual([AGENT.uid, AGENT.uid, AGENT.uid]);
    symlinkSync(system, join(theirs, 'planted'));
    makeFoldersFor(theirs, ['planted', 'inner'], AGENT);
    makeFoldersFor(theirs, ['planted', 'new'], AGENT);
    expect(ownerOf(join(system, 'inner'))).toBe(0);
    expect(existsSync(join(system, 'new'))).toBe(false);
    expect(lstatSync(join(theirs, 'planted')).isSymbolicLink()).toBe(true);
  });
});
