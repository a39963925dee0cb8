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
  expect(emulation?.notes.map(({ concept }) => concept)).toEqual(['json_schema', 'schema_strict', 'schema_name', 'parallel_tool_calls']);
  expect(emulation?.request.output).toBeUndefined();
  expect(emulation?.request.tools).toEqual([
    { kind: 'function', name: 'json_answer', description: 'Gives the final answer as JSON. Call it exactly once.', schema },
  ]);
  expect(emulation?.request.toolChoice).toEqual({ kind: 'tool', name: 'json_answer' });
});

test('beside other tools some tool must be called, so that the caller’s own stay usable', () => {
  const emulation = forcedTool({ ...base, tools: [tool], output: { kind: 'json' } }, false);
  expect(emulation?.notes.map(({ concept }) => concept)).toEqual(['json_mode', 'schema_name', 'parallel_tool_calls']);
  expect(emulation?.request.toolChoice).toEqual({ kind: 'required' });
  expect(emulation?.request.tools.map(({ name }) => name)).toEqual(['look', 'json_answer']);
});

test('the forced call comes back as text and the turn ends normally', () => {
  expect(forcedTool({ ...base, output: { kind: 'json' } }, false)?.change).toEqual({ kind: 'forced-tool', name: 'json_answer' });
  const filter = new ForcedToolFilter({ name: 'json_answer' });
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
  const filter = new ForcedToolFilter({ name: 'json_answer' });
  const call: IrAnswerEvent = { type: 'part-start', index: 0, part: { kind: 'tool-call', id: 'a', name: 'look' } };
  const end: IrAnswerEvent = { type: 'message-end', finish: 'tool-calls', usage: NO_USAGE };
  expect([call, end].flatMap((event) => filter.filter(event))).toEqual([call, end]);
});

test('JSON output beside thinking or a fixed tool choice has several readings', () => {
  expect(() => forcedTool({ ...base, output: { kind: 'json' } }, true)).toThrow('cannot be forced while thinking is on');
  const fixed = { kind: 'tool', name: 'look' } as const;
  expect(() => forcedTool({ ...base, output: { kind: 'json' }, toolChoice: fixed }, false)).toThrow('cannot both be forced');
});

test('a caller who forbids its own tools gets JSON all the same', () => {
  const emulation = forcedTool({ ...base, tools: [tool], output: { kind: 'json' }, toolChoice: { kind: 'none' } }, false);
  expect(emulation?.request.toolChoice).toEqual({ kind: 'tool', name: 'json_answer' });
});

test('a tool of the caller that has our name keeps it', () => {
  const own = { ...tool, name: 'json_answer' };
  const emulation = forcedTool({ ...base, tools: [own], output: { kind: 'json' } }, false);
  expect(emulation?.request.tools.map(({ name }) => name)).toEqual(['json_answer', 'json_answer_2']);
  expect(emulation?.change).toEqual({ kind: 'forced-tool', name: 'json_answer_2' });
});

const closed = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };

function played(events: readonly IrAnswerEvent[]): { out: IrAnswerEvent[]; filter: ForcedToolFilter } {
  const filter = new ForcedToolFilter({ name: 'json_answer', schema: JSON.stringify(closed) });
  return { out: events.flatMap((event) => filter.filter(event)), filter };
}

const said = (text: string, index = 0): IrAnswerEvent[] => [
  { type: 'part-start', index, part: { kind: 'text' } },
  { type: 'part-delta', index, text },
  { type: 'part-end', index },
];
const answered = (text: string, index = 1): IrAnswerEvent[] => [
  { type: 'part-start', index, part: { kind: 'tool-call', id: 'a', name: 'json_answer' } },
  { type: 'part-delta', index, text },
  { type: 'part-end', index },
];
const end = (finish: 'stop' | 'tool-calls' | 'length'): IrAnswerEvent => ({ type: 'message-end', finish, usage: NO_USAGE });

test('an answer that does not match the schema is an error', () => {
  const { out } = played([...answered('{"n":"one"}'), end('tool-calls')]);
  expect(out.at(-1)).toMatchObject({ type: 'error', error: { status: 502, message: expect.stringContaining('value/n must be integer') } });
});

test('an integer of any length is one', () => {
  expect(played([...answered('{"n":12345678901234567890}'), end('tool-calls')]).out.at(-1)).toMatchObject({ finish: 'stop' });
});

test('words around the JSON are left out, and the account says so', () => {
  const { out, filter } = played([...said('Here it is:'), ...answered('{"n":1}'), end('tool-calls')]);
  expect(out.filter(({ type }) => type === 'part-delta')).toEqual([{ type: 'part-delta', index: 1, text: '{"n":1}' }]);
  expect(filter.notes).toMatchObject([{ concept: 'text', note: { fate: 'emulated' } }]);
});

test('JSON in words counts where the model did not call the tool', () => {
  const { out } = played([...said('So:\n```json\n{"n": 1}\n```'), end('stop')]);
  expect(out.slice(0, -1)).toEqual(said('{"n":1}'));
  expect(played([...said('I cannot.'), end('stop')]).out).toMatchObject([{ type: 'error' }]);
});

test('an answer that the limit cut off is not judged', () => {
  expect(played([...answered('{"n":'), end('length')]).out.at(-1)).toMatchObject({ type: 'message-end', finish: 'length' });
});

test('words before a call of the caller’s own tool stay', () => {
  const call: IrAnswerEvent = { type: 'part-start', index: 1, part: { kind: 'tool-call', id: 'a', name: 'look' } };
  const events = [...said('Let me look.'), call, { type: 'part-end', index: 1 } as const, end('tool-calls')];
  expect(played(events).out).toEqual(events);
});
