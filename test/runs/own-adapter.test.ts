import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { greeter } from '../../examples/own-adapter/adapter.ts';
import { runCommand } from '../../src/base/subprocess.ts';
import { createClient } from '../../src/node/client.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/own-adapter/run.ts');

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'abp-own-adapter-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const env = (): Record<string, string> => ({ PATH: dirname(process.execPath), HOME: home, ABP_HOME: join(home, 'abp') });

describe('an adapter from outside', () => {
  it('runs as its example says', async () => {
    const { code, stdout, stderr } = await runCommand(process.execPath, [EXAMPLE], { env: env(), cwd: home, timeoutMs: 120_000 });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/\ncompleted: \S+, \d+ tokens, abp receipts show run_[0-9a-f]{32}\n$/);
  });

  it('passes the same gates, and is listed with its models beside the built-in ones', async () => {
    const mux = createClient({ env: env(), homePath: join(home, 'abp') });
    const registered = mux.adapters.register(greeter);
    expect(mux.adapters.get('greeter')).toBe(registered);
    expect(mux.adapters.list().map(({ agent }) => agent)).toContain('greeter');
    expect(mux.adapters.capabilities('greeter')).toBe(registered.capabilities);
    expect(Object.isFrozen(registered.capabilities)).toBe(true);
    expect(mux.models.models('greeter')).toEqual([]);
    expect(await mux.adapters.detect('greeter')).toMatchObject({ installed: true, version: process.versions.node });
    const wishes = { agent: 'greeter', prompt: 'hi', cwd: home };
    expect(() => mux.run({ ...wishes, sessionId: 's1' })).toThrow("Agent 'greeter' does not support sessionResume");
    expect(() => mux.run({ ...wishes, outputFormat: 'json' })).toThrow("Agent 'greeter' does not support jsonMode");
  });

  it.each([
    [
      'a name that is taken',
      { ...greeter, agent: 'claude', capabilities: { ...greeter.capabilities, agent: 'claude' } },
      'claude is there already',
    ],
    ['a name that no address takes', { ...greeter, agent: '../x' }, 'beginning with a letter'],
    ['capabilities of another agent', { ...greeter, agent: 'other' }, 'must be other'],
    ['no way to start it', { ...greeter, spawn: undefined }, 'spawn: must be a function'],
    ['a dialect that nobody knows', { ...greeter, traffic: { ...greeter.traffic, dialect: 'latin' } }, 'no dialect of ours: latin'],
  ])('is refused with %s', (_, adapter, words) => {
    const mux = createClient({ env: env(), homePath: join(home, 'abp') });
    expect(() => mux.adapters.register(adapter as typeof greeter)).toThrow(words);
  });
});
