import { existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { NOT_LINUX, needing } from '../../../../test/support/needs.ts';
import type { Equipment } from '../../../confinement/equipment.ts';
import { shownAsIs } from '../../../confinement/room.ts';
import { RunRoom } from './run-room.ts';

const EQUIPMENT: Equipment = {
  bwrap: '/usr/bin/bwrap',
  prlimit: '/usr/bin/prlimit',
  setpriv: '/usr/bin/setpriv',
  node: process.execPath,
  starter: 'perl',
  arch: 'x64',
  filters: { online: Buffer.alloc(0), offline: Buffer.alloc(0) },
  disablesUserNamespaces: true,
};

it.skipIf(NOT_LINUX !== undefined)(
  needing('makes folders in a private home through no link that an agent has left there', NOT_LINUX),
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'abp-room-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [outside, run] = [join(folder, 'outside'), join(folder, 'run')];
    for (const path of [outside, run]) mkdirSync(path);
    const room = new RunRoom({
      equipment: EQUIPMENT,
      agent: 'gemini',
      homes: join(folder, 'rooms'),
      project: folder,
      workspace: shownAsIs(folder),
      places: [],
      hidden: [],
      outside: [],
      secrets: [],
      denied: [],
      rules: { allow: [], deny: [] },
      admit: (socket) => socket.destroy(),
      onEgress: () => undefined,
    });
    onTestFinished(() => room.close());
    const [name = ''] = readdirSync(join(folder, 'rooms', 'gemini'));
    const home = join(folder, 'rooms', 'gemini', name);
    room.link(run, { first: '.gemini/tmp' });
    expect(existsSync(join(home, '.gemini', 'tmp'))).toBe(true);
    symlinkSync(outside, join(home, '.planted'));
    room.link(run, { second: '.planted/tmp' });
    expect(readdirSync(outside)).toEqual([]);
    expect(readlinkSync(join(run, 'second'))).toBe('/home/agent/.planted/tmp');
  },
);
