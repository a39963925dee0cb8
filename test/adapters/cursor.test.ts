import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { dialogue } from '../../src/adapters/cursor/events.ts';
import { spawn } from '../../src/adapters/cursor/spawn.ts';
import { runCommand } from '../../src/base/subprocess.ts';
import type { RunOptions } from '../../src/contract/runs/run-options.ts';
import { planOf, told } from '../support/dialogue.ts';

const FAKE = join(import.meta.dirname, '../support/agents/cursor.ts');

async function run(options: Partial<RunOptions>, key?: string) {
  const cwd = mkdtempSync(join(tmpdir(), 'abp-cursor-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const plan = planOf('cursor', options, { cwd });
  const env = { ...process.env, CURSOR_API_KEY: key };
  const { stdout, code, signal } = await runCommand(process.execPath, [FAKE, ...spawn(plan).args], { cwd, env, timeoutMs: 110_000 });
  return { cwd, ...told(dialogue(plan), stdout.split('\n'), { code, signal }) };
}

it('understands every line of the documented form', async () => {
  const prompt = 'write the text hello into the file out.txt';
  const { events, outcome, cwd } = await run({ prompt, approvalMode: 'yolo', sessionId: 's1' }, 'crsr_x');
  expect(outcome).toEqual({ ok: true });
  expect(readFileSync(join(cwd, 'out.txt'), 'utf8')).toBe('hello');
  expect(events.filter(({ type }) => type === 'log')).toEqual([]);
  expect(events[0]).toEqual({ type: 'session_start', sessionId: 's1', resumed: true });
  expect(events.filter(({ type }) => type === 'message_stop')).toEqual([
    { type: 'message_stop', text: 'I write it. ' },
    { type: 'message_stop', text: 'Done.' },
  ]);
});

it('is dead when it says why on its error output alone', async () => {
  const { outcome } = await run({});
  expect(outcome).toEqual({ ok: false, code: 'AGENT_CRASH', message: 'the agent ended before it answered (exit code 1)' });
});
