import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CallState } from '../../loop/state.ts';
import type { Tool, ToolContext } from './tool.ts';
import { runTool } from './tool-run.ts';

const CALL: CallState = { id: 'call_1', name: 'add', arguments: '{"a":1}', effect: 'idempotent', stage: 'running', attempt: 1 };
const TOOL: Tool = {
  name: 'add',
  description: 'Adds.',
  parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  policy: 'auto',
  effect: 'idempotent',
  execute: async (input) => ({ output: input }),
};

describe('a call', () => {
  let workspaces: string;
  const faults: unknown[] = [];
  beforeEach(() => {
    workspaces = mkdtempSync(join(tmpdir(), 'abp-tools-'));
    faults.length = 0;
  });
  afterEach(() => rmSync(workspaces, { recursive: true, force: true }));

  const run = (tool: Partial<Tool> | undefined, call: Partial<CallState> = {}, signal = new AbortController().signal) =>
    runTool({
      tool: tool === undefined ? undefined : { ...TOOL, ...tool },
      call: { ...CALL, ...call },
      agentId: 'agent_1',
      sessionId: 'session_1',
      workspaces,
      signal,
      onFault: (error) => faults.push(error),
    });

  test('whose tool says more than is kept loses the end of its longest text, and nothing of an error beside it', async () => {
    const output = { stdout: 'é"'.repeat(400_000), error: 'ValueError: no such thing', status: 'threw' };
    const end = await run({ execute: async () => ({ output }) });
    expect(end).toMatchObject({ output: { error: 'ValueError: no such thing', status: 'threw', truncated: true } });
    const kept = JSON.stringify(end).match(/"stdout":"((?:[^"\\]|\\.)*)"/)?.[1] ?? '';
    expect(JSON.stringify(output.stdout).slice(1).startsWith(kept)).toBe(true);
    expect(kept.length).toBeGreaterThan(10_000);
  });

  test('reaches its tool with its id and a folder that exists', async () => {
    let seen: ToolContext | undefined;
    const execute: Tool['execute'] = async (input, context) => {
      seen = context;
      return { output: input };
    };
    expect(await run({ execute })).toEqual({ status: 'success', output: { a: 1 } });
    expect(seen).toMatchObject({ callId: 'call_1', agentId: 'agent_1', sessionId: 'session_1' });
    expect(existsSync(seen?.workspace ?? '')).toBe(true);
  });

  test('of an unknown tool, or with arguments that do not fit, never reaches one', async () => {
    expect(await run(undefined)).toEqual({ status: 'error', error: 'There is no tool named add.' });
    expect(await run({}, { arguments: '[1]' })).toEqual({ status: 'error', error: 'The arguments are not a JSON object.' });
    expect(await run({}, { arguments: '{"a":' })).toEqual({ status: 'error', error: 'The arguments are not a JSON object.' });
    expect(await run({}, { arguments: '{"a":"x"}' })).toEqual({
      status: 'error',
      error: 'The arguments do not fit: value/a must be number',
    });
  });

  test('ends when its time is over, though the tool does not listen', async () => {
    const hang = { timeoutMs: 20, execute: () => new Promise<never>(() => undefined) };
    expect(await run(hang)).toEqual({ status: 'timeout', error: 'The call took longer than 20 ms.' });
    expect(await run({ ...hang, effect: 'at_most_once' })).toEqual({
      status: 'timeout',
      error: 'The call took longer than 20 ms. Whether it had an effect is not known.',
    });
  });

  test('ends with its turn', async () => {
    const turn = new AbortController();
    const execute: Tool['execute'] = (_input, { signal }) => {
      turn.abort();
      return new Promise((resolve) => resolve(signal.aborted ? { output: 'late' } : { error: 'the signal was not heard' }));
    };
    expect(await run({ execute }, {}, turn.signal)).toEqual({ status: 'cancelled', error: 'The turn was cancelled.' });
  });

  test('that fails inside tells the model so, and us why', async () => {
    const fault = new Error('secret detail');
    expect(await run({ execute: async () => Promise.reject(fault) })).toEqual({ status: 'error', error: 'The tool failed inside.' });
    expect(faults).toEqual([fault]);
  });

  test('without a folder to work in is a fault of ours, and ends all the same', async () => {
    writeFileSync(join(workspaces, 'session_1'), 'in the way');
    expect(await run({})).toEqual({ status: 'error', error: 'The tool failed inside.' });
    expect(faults).toHaveLength(1);
  });

  test('with a result beyond the limit is cut, and says so', async () => {
    const end = await run({ execute: async () => ({ output: 'x'.repeat(70_000) }) });
    expect(end).toMatchObject({ status: 'success', output: { truncated: true, characters_total: 70_000 } });
    expect(JSON.stringify(end).length).toBeLessThan(66_000);
  });
});
