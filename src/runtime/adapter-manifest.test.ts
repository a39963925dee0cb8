import { expect, test } from 'vitest';
import { resolveBackend } from './backends.ts';

test('a coding agent is a backend whose manifest says what its profile says', () => {
  expect(resolveBackend('adapter:copilot').manifest).toEqual({ streaming: 'native' });
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
  });
});

test('a bare name is a coding agent where nothing else has it', () => {
  expect(resolveBackend('hermes').id).toBe('adapter:hermes');
  expect(() => resolveBackend('gemini')).toThrow('"gemini" names several backends: engine:gemini, host:gemini, adapter:gemini');
});
