import { expect, it } from 'vitest';
import { Spoken } from './spoken.ts';

it('opens and closes text and thinking once each', () => {
  const spoken = new Spoken();
  expect([...spoken.thinking('a'), ...spoken.thinking('b'), ...spoken.text('c'), ...spoken.text('d'), ...spoken.end()]).toEqual([
    { type: 'thinking_start' },
    { type: 'thinking_delta', delta: 'a' },
    { type: 'thinking_delta', delta: 'b' },
    { type: 'thinking_stop', thinking: 'ab' },
    { type: 'message_start' },
    { type: 'text_delta', delta: 'c' },
    { type: 'text_delta', delta: 'd' },
    { type: 'message_stop', text: 'cd' },
  ]);
});

it('says nothing for empty pieces and for an end that was told already', () => {
  const spoken = new Spoken();
  expect([...spoken.text(''), ...spoken.endText(), ...spoken.endThinking(), ...spoken.end()]).toEqual([]);
});
