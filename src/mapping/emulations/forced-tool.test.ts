import { expect, test } from 'vitest';
import type { IrAnswerEvent } from '../../ir/event.ts';
import type { IrRequest } from '../../ir/request.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { ForcedToolFilter, forcedTool } from './forced-tool.ts';

const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
const base: IrRequest = { model: 'm', stream: true, messages: [], tools: [], stop: [], sampling: {}, vendor: {} };
const tool = { kind: 'function', name: 'look', schema: { type: 'object' } } as const;

test('the answer’s schema becomes the only tool, and it must be called', () => {
  const emulation = forcedTool({ ...base, output: { kind: 'json-schema', schema } }, false);
  expect(emulation?.capability).toBe('structured_output_json_schema');
  expect(emulation?.request.output).toBeUndefined();
  expect(emulation?.request.tools).toEqual([
    { kind: 'function', name: 'json_answer', description: 'Gives the final answer as JSON. Call it exactly once.', schema },
  ]);
  expect(emulation?.request.toolChoice).toEqual({ kind: 'tool', name: 'json_answer' });
});

test('beside other tools some tool must be called, so that the caller’s own stay usable', () => {
  const emulation = forcedTool({ ...base, tools: [tool], output: { kind: 'json' } }, false);
  expect(emulation?.capability).toBe('json_mode');
  expect(emulation?.request.toolChoice).toEqual({ kind: 'required' });
  expect(emulation?.request.tools.map(({ name }) => name)).toEqual(['look', 'json_answer']);
});

test('the forced call comes back as text and the turn ends normally', () => {
  expect(forcedTool({ ...base, output: { kind: 'json' } }, false)?.change).toEqual({ kind: 'forced-tool' });
  const filter = new ForcedToolFilter();
  const events: IrAnswerEvent[] = [
    { type: 'part-start', index: 0, part: { kind: 'tool-call', id: 'a', name: 'json_answer' } },
    { type: 'part-delta', index: 0, text: '{"n":1}' },
    { type: 'part-end', index: 0 },
    { type: 'message-end', finish: 'tool-calls', usage: NO_USAGE },
  ];
  expect(events.flatMap((event) => filter.filter(event))).toEqual([
    { type: 'part-start', index: 0, part: { kind: 'text' } },
    { type: 'part-delta', index: 0, text: '{"n":1}' },
    { type: 'part-end', index: 0 },
    { type: 'message-end', finish: 'stop', usage: NO_USAGE },
  ]);
});

test('a call of the caller’s own tool stays a call', () => {
  const filter = new ForcedToolFilter();
  const call: IrAnswerEvent = { type: 'part-start', index: 0, part: { kind: 'tool-call', id: 'a', name: 'look' } };
  const end: IrAnswerEvent = { type: 'message-end', finish: 'tool-calls', usage: NO_USAGE };
  expect([call, end].flatMap((event) => filter.filter(event))).toEqual([call, end]);
});

test('JSON output beside thinking or a fixed tool choice has several readings', () => {
  expect(() => forcedTool({ ...base, output: { kind: 'json' } }, true)).toThrow('cannot be forced while thinking is on');
  expect(() => forcedTool({ ...base, output: { kind: 'json' }, toolChoice: { kind: 'none' } }, false)).toThrow('cannot both be forced');
});
