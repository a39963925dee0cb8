import { expect, test } from 'vitest';
import { resolveBackend } from './backends.ts';

const ASKED = { restricted: { reason: 'it decides about the tools that the agent asks about, and is told of the others' } };

test('a coding agent is a backend whose manifest says what its profile says', () => {
  expect(resolveBackend('adapter:copilot').manifest).toEqual({
    streaming: 'native',
    hooks_pre_tool_use: ASKED,
    hooks_post_tool_use: 'emulated',
  });
  expect(resolveBackend('adapter:codex').manifest).toEqual({
    streaming: 'native',
    tool_read: 'native',
    tool_write: 'native',
    tool_edit: 'native',
    tool_bash: 'native',
    json_mode: 'native',
    mcp_client: 'native',
    extended_thinking: 'native',
    image_input: 'native',
    hooks_pre_tool_use: ASKED,
    hooks_post_tool_use: 'emulated',
  });
});

test('it says of hooks what an agent waits for and tells of', () => {
  const hooks = (agent: string) => {
    const { hooks_pre_tool_use: before, hooks_post_tool_use: after } = resolveBackend(`adapter:${agent}`).manifest;
    return [typeof before === 'object' ? 'restricted' : before, after];
  };
  for (const agent of ['claude', 'pi', 'omp']) expect(hooks(agent)).toEqual(['native', 'emulated']);
  for (const agent of ['codex', 'gemini', 'copilot', 'cursor', 'opencode', 'hermes'])
    expect(hooks(agent)).toEqual(['restricted', 'emulated']);
  expect(hooks('openclaw')).toEqual(['unsupported', 'unsupported']);
});

test('a bare name is a coding agent where nothing else has it', () => {
  expect(resolveBackend('hermes').id).toBe('adapter:hermes');
  expect(() => resolveBackend('gemini')).toThrow('"gemini" names several backends: engine:gemini, host:gemini, adapter:gemini');
});
