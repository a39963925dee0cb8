import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { NOT_LINUX, needing, ON_WINDOWS } from '../../test/support/needs.ts';
import { openHome } from './home.ts';

const posix = process.getuid !== undefined;
const root = process.getuid?.() === 0;
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

let parent: string;
let path: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'abp-home-'));
  path = join(parent, 'deep', 'home');
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(parent, { recursive: true, force: true });
});

describe('a home', () => {
  test.runIf(posix)(needing('is created for its owner alone', ON_WINDOWS), () => {
    openHome({ path });
    expect(readdirSync(path).toSorted()).toEqual(['bodies', 'journal', 'node-id', 'token']);
    for (const folder of [path, join(path, 'bodies'), join(path, 'journal')]) expect(modeOf(folder)).toBe('700');
    for (const file of ['token', 'node-id']) expect(modeOf(join(path, file))).toBe('600');
  });

  test('keeps its token and node id', () => {
    const first = openHome({ path });
    const second = openHome({ path });
    expect(first.token).toMatch(/^[\w-]{43}$/);
    expect(first.nodeId).toMatch(/^node_[0-9a-f]{32}$/);
    expect([second.token, second.nodeId]).toEqual([first.token, first.nodeId]);
    expect(readFileSync(join(path, 'token'), 'utf8')).toBe(`${first.token}\n`);
  });

  test('is where ABP_HOME says, unless a path is given', () => {
    vi.stubEnv('ABP_HOME', join(parent, 'from-env'));
    expect(openHome().path).toBe(join(parent, 'from-env'));
    expect(openHome({ path }).path).toBe(path);
  });

  test.runIf(posix)(needing('that others can enter is closed', ON_WINDOWS), () => {
    openHome({ path });
    chmodSync(path, 0o755);
    chmodSync(join(path, 'token'), 0o644);
    openHome({ path });
    expect(modeOf(path)).toBe('700');
    expect(modeOf(join(path, 'token'))).toBe('600');
  });

  test.skipIf(NOT_LINUX !== undefined)(needing('below a folder that takes no folders is refused at once', NOT_LINUX), () => {
    expect(() => openHome({ path: '/proc/self/home/.abp' })).toThrow(
      expect.objectContaining({ code: 'CONFIG_ERROR', message: expect.stringContaining('cannot be created') }),
    );
  });

  test.skipIf(NOT_LINUX !== undefined)(needing('that others can enter and that cannot be closed is refused', NOT_LINUX), () => {
    // A folder of this user whose mode the kernel does not let anyone change.
    expect(() => openHome({ path: '/proc/self/task' })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_ERROR',
        message: 'the home /proc/self/task is open to other users (mode 555) and cannot be closed',
      }),
    );
  });

  test.runIf(posix)(needing('of another user is refused', ON_WINDOWS), () => {
    const foreign = root ? path : '/';
    if (root) {
      mkdirSync(path, { recursive: true });
      chownSync(path, 12345, 12345);
    }
    expect(() => openHome({ path: foreign })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_ERROR',
        message: `the home ${foreign} belongs to another user (uid ${root ? 12345 : 0})`,
      }),
    );
  });

  test('that cannot be a folder is refused', () => {
    writeFileSync(join(parent, 'file'), '');
    expect(() => openHome({ path: join(parent, 'file', 'home') })).toThrow(expect.objectContaining({ code: 'CONFIG_ERROR' }));
    expect(() => openHome({ path: join(parent, 'file') })).toThrow(expect.objectContaining({ code: 'CONFIG_ERROR' }));
  });

  test('in which a folder cannot be made is refused', () => {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'journal'), '');
    expect(() => openHome({ path })).toThrow(
      expect.objectContaining({ code: 'CONFIG_ERROR', message: expect.stringContaining(`the home ${path} cannot be written`) }),
    );
  });

  test('with an empty token file is refused instead of accepting an empty token', () => {
    openHome({ path });
    writeFileSync(join(path, 'token'), '\n');
    expect(() => openHome({ path })).toThrow(`${join(path, 'token')} is damaged; delete it to get a new one`);
  });
});

describe('the address of a home', () => {
  test('is readable exactly while a server holds the lock', () => {
    const home = openHome({ path });
    expect(home.readAddress()).toBeUndefined();
    const lock = home.lockServer();
    expect(home.readAddress()).toBeUndefined();
    home.writeAddress({ url: 'http://127.0.0.1:8088', pid: 42 });
    expect(home.readAddress()).toEqual({ url: 'http://127.0.0.1:8088', pid: 42 });
    lock.release();
    lock.release();
    expect(home.readAddress()).toBeUndefined();
  });

  test('is forgotten when removed or damaged', () => {
    const home = openHome({ path });
    const lock = home.lockServer();
    home.writeAddress({ url: 'http://127.0.0.1:8088', pid: 42 });
    home.removeAddress();
    home.removeAddress();
    expect(home.readAddress()).toBeUndefined();
    writeFileSync(join(path, 'address'), '{"url": 1}');
    expect(home.readAddress()).toBeUndefined();
    lock.release();
  });
});

describe('the server lock', () => {
  test('is refused to a second server of the same process, also before the first has an address', () => {
    const home = openHome({ path });
    const lock = home.lockServer();
    expect(() => openHome({ path }).lockServer()).toThrow('another server is starting on this home; stop it or set ABP_HOME');
    lock.release();
    openHome({ path }).lockServer().release();
  });
});
