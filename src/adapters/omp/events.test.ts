import { expect, it } from 'vitest';
import { outline, planOf, told } from '../../../test/support/dialogue.ts';
import { dialogue } from './events.ts';

it('is done at the end of a run that says it is the last', () => {
  const talk = dialogue(planOf('omp', {}, { answerable: true }));
  expect(talk.line('{"type":"agent_end","isTerminal":false}').done).toBeUndefined();
  expect(talk.line('{"type":"agent_end","isTerminal":true}').done).toBe(true);
});

it('knows the sub-agents of its task tool', () => {
  const line = '{"type":"tool_execution_start","toolCallId":"c1","toolName":"task","args":{"agent":"explore","prompt":"look"}}';
  expect(outline(told(dialogue(planOf('omp')), [line]).events)).toContain('subagent_spawn');
});
