import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fakeCommands } from '../../test/support/fake-commands.ts';
import { createClient } from './client.ts';

it('the client shows what a caller asks before it runs anything', async () => {
  const commands = fakeCommands();
  commands.write('claude', "echo '2.1.325 (Claude Code)'");
  const mux = createClient({ env: commands.env });
  const caps = mux.adapters.capabilities('claude');
  expect(caps.supportsThinking).toBe(true);
  expect(mux.adapters.get('claude').capabilities).toBe(caps);
  expect(await mux.adapters.detect('claude')).toMatchObject({ installed: true, version: '2.1.325' });
  expect(mux.models.model('claude', 'opus')?.modelId).toBe('claude-opus-5-5');
  expect(mux.models.estimateCost('claude', 'opus', 1_000_000, 0)).toBe(4);
  expect(() => mux.adapters.capabilities('nobody')).toThrow(expect.objectContaining({ code: 'AGENT_NOT_FOUND' }));
});

it('a run that the profile rules out is refused before anything is spawned', () => {
  const commands = fakeCommands();
  commands.write('pi', `[ "$1" = --version ] || touch ${commands.folder}/started; echo 0.87.1`);
  const mux = createClient({ env: commands.env, homePath: commands.folder });
  const server = { name: 'files', transport: 'stdio', command: 'x' } as const;
  expect(() => mux.run({ agent: 'pi', prompt: 'hi', cwd: commands.folder, mcpServers: [server] })).toThrow(
    "Agent 'pi' does not support mcp",
  );
  expect(existsSync(join(commands.folder, 'started'))).toBe(false);
});

it('sessions of an agent without any are an empty list', async () => {
  const commands = fakeCommands();
  const mux = createClient({ env: commands.env, homePath: commands.folder });
  expect(await mux.sessions.list('claude')).toEqual([]);
  await expect(mux.sessions.get('claude', 'x')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
});

it('a profile stands under the options of a run, and its wishes meet the same gates', () => {
  const commands = fakeCommands();
  const mux = createClient({ env: commands.env, homePath: commands.folder });
  mux.profiles.set('talkative', { nonInteractive: false });
  const wishes = { agent: 'openclaw', prompt: 'hi', cwd: commands.folder, profile: 'talkative' };
  expect(() => mux.run(wishes)).toThrow('OpenClaw takes no messages while it runs.');
  expect(() => mux.run({ ...wishes, profile: 'nobody' })).toThrow(expect.objectContaining({ code: 'PROFILE_NOT_FOUND' }));
});
