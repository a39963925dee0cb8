import { expect, it } from 'vitest';
import { stopwatch } from '../../../test/support/processor-time.ts';
import { SidecarTranslator } from './translate.ts';

const TS = '2026-01-02T03:04:05Z';
const call = (tool: string) =>
  ({ ts: TS, type: 'tool_call', tool_name: tool, tool_use_id: null, parent_tool_use_id: null, input: {}, ext: undefined }) as const;
const result = (tool: string) =>
  ({ ts: TS, type: 'tool_result', tool_name: tool, tool_use_id: null, output: 'done', is_error: false, ext: undefined }) as const;
const idOf = (drafts: ReturnType<SidecarTranslator['read']>): string =>
  drafts.map((draft) => ('toolCallId' in draft ? draft.toolCallId : ''))[0] ?? '';

it('gives calls without an id one each, and their results to the oldest call of the tool', () => {
  const translator = new SidecarTranslator('/w');
  const asked = ['Read', 'Bash', 'Read'].map((tool) => idOf(translator.read(call(tool))));
  expect(asked).toEqual(['call_1', 'call_2', 'call_3']);
  expect(['Read', 'Read', 'Bash', 'Bash'].map((tool) => idOf(translator.read(result(tool))))).toEqual([
    'call_1',
    'call_3',
    'call_2',
    'call_Bash',
  ]);
});

it('takes no longer for a call where tens of thousands wait', () => {
  const translator = new SidecarTranslator('/w');
  const watch = stopwatch();
  for (let at = 0; at < 45_000; at += 1) translator.read(call('Read'));
  const found = Array.from({ length: 45_000 }, () => idOf(translator.read(result('Read'))));
  expect(found.every((id, at) => id === `call_${at + 1}`)).toBe(true);
  const { ms, lost } = watch();
  expect(ms - lost).toBeLessThan(5000);
});
