import { expect, test } from 'vitest';
import type { IrRequest } from '../ir/request.ts';
import { withoutToolSettings } from './writing.ts';

const request: IrRequest = {
  model: 'm',
  stream: false,
  messages: [],
  tools: [],
  stop: [],
  sampling: {},
  vendor: {},
  parallelToolCalls: false,
};

test('a choice among no tools is left out unless it forces one', () => {
  const { request: left, notes } = withoutToolSettings({ ...request, toolChoice: { kind: 'none' } });
  expect([left.toolChoice, left.parallelToolCalls]).toEqual([undefined, undefined]);
  expect(notes.map(({ concept, code }) => [concept, code])).toEqual([
    ['parallel_tool_calls', 'no_tool_to_choose'],
    ['tool_choice', 'no_tool_to_choose'],
  ]);
  expect(withoutToolSettings({ ...request, toolChoice: { kind: 'required' } }).request.toolChoice).toEqual({ kind: 'required' });
});

test('settings beside a tool stay', () => {
  const tools = [{ kind: 'function', name: 'f', schema: { type: 'object' } } as const];
  expect(withoutToolSettings({ ...request, tools }).request.parallelToolCalls).toBe(false);
});
