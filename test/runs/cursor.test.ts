import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cursor } from '../../src/adapters/cursor/adapter.ts';
import type { LocalRunOptions, RunHandle } from '../../src/runtime/runs/handle.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { eventsOf, type Scene, scene } from './harness.ts';
import { knowledge } from './paper.ts';

function start(at: Scene, options: Partial<LocalRunOptions>, env: NodeJS.ProcessEnv = { CURSOR_API_KEY: 'crsr_x' }): RunHandle {
  const bin = join(dirname(at.folder), 'bin');
  fakeCommand(bin, 'cursor-agent', 'cursor');
  const detected = { installed: true, version: '2026.09.28-64d2043', path: join(bin, 'cursor-agent'), effective: cursor.capabilities };
  return at.run(
    cursor,
    { agent: 'cursor', ...options },
    { agents: { ...knowledge, detect: async () => detected }, env: { ...process.env, CURSOR_API_KEY: undefined, ...env } },
  );
}

describe('a run of Cursor', () => {
  it('writes a file, and every word is told once', async () => {
    const at = scene();
    const run = start(at, { prompt: 'write the text hello into the file a/b.txt', approvalMode: 'yolo' });
    const events = await eventsOf(run);
    expect(await run).toMatchObject({
      exitReason: 'completed',
      text: 'I write it. \n\nDone.',
      sessionId: '22222222-3333-4444-8555-666666666666',
      tokenUsage: { input: 110, output: 5, cached: 100 },
      turnCount: 2,
    });
    expect(readFileSync(join(at.folder, 'a/b.txt'), 'utf8')).toBe('hello');
    expect(events).toContainEqual(expect.objectContaining({ type: 'file_patch', path: join(at.folder, 'a/b.txt'), diff: '+hello' }));
  });

  it('may only read where nobody can be asked', async () => {
    const run = start(scene(), { prompt: 'write the text hello into the file a.txt', approvalMode: 'deny' });
    expect(await run).toMatchObject({ exitReason: 'completed', text: 'I may only read.' });
  });

  it('a prompt of one word is a prompt', async () => {
    expect(await start(scene(), { prompt: 'acp', approvalMode: 'yolo' })).toMatchObject({ text: 'You said: acp' });
  });

  it('without a credential it fails with its own words', async () => {
    const { exitReason, error } = await start(scene(), { prompt: 'hi there', approvalMode: 'yolo' }, {});
    expect(exitReason).toBe('failed');
    expect(error).toMatchObject({ code: 'AUTH_ERROR', stderr: expect.stringContaining('Authentication required') });
  });

  it('asks over ACP, and the answer arrives', async () => {
    const run = start(scene(), { prompt: 'build it', approvalMode: 'prompt', onApprovalRequest: () => true });
    const events = await eventsOf(run);
    expect(events).toContainEqual(expect.objectContaining({ type: 'approval_request', detail: '{"command":"make"}', riskLevel: 'medium' }));
    expect(await run).toMatchObject({ exitReason: 'completed', text: 'permission: allow-once' });
  });
});
