import { expect, it } from 'vitest';
import { planOf } from '../../../test/support/dialogue.ts';
import { dialogue } from './events.ts';

it('waits for the end of everything, which older versions do not tell', () => {
  const done = (version: string | undefined, line: string) =>
    dialogue(planOf('pi', {}, { answerable: true, ...(version !== undefined && { version }) })).line(line).done;
  expect(done('0.87.1', '{"type":"agent_end","willRetry":false}')).toBeUndefined();
  expect(done('0.87.1', '{"type":"agent_settled"}')).toBe(true);
  expect(done(undefined, '{"type":"agent_settled"}')).toBe(true);
  expect(done('0.74.2', '{"type":"agent_end"}')).toBe(true);
});
