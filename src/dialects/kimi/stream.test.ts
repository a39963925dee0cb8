import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anyAnswer, chunk, emitted, foldOf, stepsOf, stepsOfBytes } from '../../../test/support/chat-stream.ts';
import type { IrEvent } from '../../ir/event.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { kimi } from './dialect.ts';

const thinking: readonly IrEvent[] = [
  { type: 'message-start' },
  { type: 'part-start', index: 0, part: { kind: 'thinking' } },
  { type: 'part-delta', index: 0, text: 'Let me see.' },
  { type: 'part-end', index: 0, meta: { claude: { signature: 'sig' } } },
  { type: 'message-end', finish: 'stop', usage: { ...NO_USAGE, inputTokens: 30, outputTokens: 9, cacheReadTokens: 20 } },
];

it('usage is counted once, from wherever it stands', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
  const inChoice = { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] };
  const events = stepsOf(kimi, [chunk({ content: 'a' }), inChoice, { choices: [], usage }, '[DONE]']);
  expect(events.at(-1)).toMatchObject({ usage: { ...NO_USAGE, inputTokens: 5, outputTokens: 2 } });
});

it('usage stands in the finishing choice, and again at the end for a caller that asked', () => {
  const usage = '"usage":{"prompt_tokens":30,"completion_tokens":9,"total_tokens":39,"cached_tokens":20';
  expect(emitted(kimi, thinking, { includeUsage: false }).split(usage)).toHaveLength(2);
  expect(emitted(kimi, thinking, { includeUsage: false })).toContain(`"finish_reason":"stop",${usage}`);
  expect(emitted(kimi, thinking)).toContain(`"choices":[],${usage}`);
});

it('reasoning is text beside the content, and carries what another engine must get back', () => {
  const text = emitted(kimi, thinking);
  expect(text).toContain('"delta":{"reasoning_content":"Let me see."}');
  expect(text).toContain('"reasoning_details":[{"type":"reasoning.text"');
});

it('pieces of a host’s reasoning details join into what must go back', () => {
  const detail = (text: string) => ({ type: 'reasoning.text', text, format: 'unknown', index: 0 });
  const events = stepsOf(kimi, [
    chunk({ reasoning: 'Let ', reasoning_details: [detail('Let ')] }),
    chunk({ reasoning: 'me.', reasoning_details: [detail('me.'), { type: 'reasoning.encrypted', data: 'x', index: 1 }] }),
    chunk({ content: 'Yes.' }, 'stop'),
    '[DONE]',
  ]);
  expect(foldOf(events).response()?.parts[0]).toEqual({
    kind: 'thinking',
    text: 'Let me.',
    meta: { kimi: { reasoning_details: [detail('Let me.'), { type: 'reasoning.encrypted', data: 'x', index: 1 }] } },
  });
});

it('reasoning that a host tells twice is read once, whichever place comes first', () => {
  const details = [{ type: 'reasoning.text', text: 'Let me.', format: 'unknown', index: 0 }];
  const pieces = [chunk({ reasoning: 'Let ' }), chunk({ reasoning: 'me.' })];
  for (const said of [
    [chunk({ content: '', reasoning_details: details }), ...pieces],
    [...pieces, chunk({ reasoning_details: details })],
  ]) {
    const events = stepsOf(kimi, [...said, chunk({ content: 'Yes.' }, 'stop'), '[DONE]']);
    expect(foldOf(events).response()?.parts).toMatchObject([
      { kind: 'thinking', text: 'Let me.' },
      { kind: 'text', text: 'Yes.' },
    ]);
  }
});

it('what is emitted steps to the same answer, however it is cut', () => {
  fc.assert(
    fc.property(anyAnswer, fc.integer({ min: 1, max: 50 }), (answer, size) => {
      const again = stepsOfBytes(kimi, Buffer.from(emitted(kimi, answer)), size);
      expect(foldOf(again).response()).toEqual(foldOf(answer).response());
    }),
    { numRuns: 60 },
  );
});
