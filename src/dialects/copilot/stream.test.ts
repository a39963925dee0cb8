import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyAnswer, chunk, emitted, foldOf, stepsOf, stepsOfBytes } from '../../../test/support/chat-stream.ts';
import type { IrEvent } from '../../ir/event.ts';
import { Ledger } from '../../ir/ledger.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { copilot } from './dialect.ts';

const usage = NO_USAGE;
const thinking: readonly IrEvent[] = [
  { type: 'message-start' },
  { type: 'part-start', index: 0, part: { kind: 'thinking' } },
  { type: 'part-delta', index: 0, text: 'Let me see.' },
  { type: 'part-end', index: 0, meta: { claude: { signature: 'sig' } } },
  { type: 'message-end', finish: 'stop', usage: { ...NO_USAGE, inputTokens: 30, outputTokens: 9, cacheReadTokens: 20 } },
];

it('usage stands in the finishing chunk', () => {
  expect(emitted(copilot, thinking)).toContain('"finish_reason":"stop"}],"usage":{"prompt_tokens":30');
});

it('reasoning has a member of its own', () => {
  expect(emitted(copilot, thinking)).toContain('"delta":{"reasoning_text":"Let me see."}');
});

describe('a seal that comes after the reasoning has ended', () => {
  it('stands in a part of its own', () => {
    const events = stepsOf(copilot, [
      chunk({ reasoning_text: 'hm' }),
      chunk({ content: 'a' }),
      chunk({ reasoning_opaque: 's' }),
      chunk({}, 'stop'),
      '[DONE]',
    ]);
    expect(foldOf(events).response()?.parts).toEqual([
      { kind: 'thinking', text: 'hm' },
      { kind: 'text', text: 'a' },
      { kind: 'thinking', text: '', redacted: true, meta: { copilot: { reasoning_opaque: 's' } } },
    ]);
  });
});

describe("another engine's state in Copilot's seal", () => {
  it('comes back with the history to the engine it belongs to', () => {
    const signed: IrEvent[] = [
      { type: 'message-start' },
      { type: 'part-start', index: 0, part: { kind: 'tool-call', id: 'c1', name: 'look', meta: { gemini: { thoughtSignature: 'c2ln' } } } },
      { type: 'part-end', index: 0 },
      { type: 'message-end', finish: 'tool-calls', usage },
    ];
    const stepper = copilot.stepper();
    const frames = emitted(copilot, signed)
      .split('\n\n')
      .map((frame) => frame.replace('data: ', ''));
    const opaque = frames.map((text) => /"reasoning_opaque":"([^"]+)"/.exec(text)?.[1]).find((found) => found !== undefined);
    const history = {
      role: 'assistant',
      content: null,
      reasoning_opaque: opaque ?? '',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
    };
    const { messages } = copilot.liftRequest({ model: 'm', messages: [history] }, { ledger: new Ledger() });
    const expected = [
      { kind: 'thinking', text: '', redacted: true, meta: { gemini: { thoughtSignature: 'c2ln' } } },
      { kind: 'tool-call', id: 'c1' },
    ];
    expect(messages[0]?.parts).toMatchObject(expected);
    const events = frames.filter((text) => text !== '').flatMap((data) => stepper.step({ event: '', data }));
    expect(events.filter((event) => event.type === 'part-start').map(({ part }) => part)).toMatchObject([
      { kind: 'thinking', redacted: true, meta: { gemini: { thoughtSignature: 'c2ln' } } },
      { kind: 'tool-call', id: 'c1' },
    ]);
  });

  it('is the reasoning’s own where it has one, and is read back once', () => {
    const again = stepsOfBytes(copilot, Buffer.from(emitted(copilot, thinking)), 64);
    expect(foldOf(again).response()?.parts).toEqual([{ kind: 'thinking', text: 'Let me see.', meta: { claude: { signature: 'sig' } } }]);
    expect(emitted(copilot, thinking)).toMatch(/"reasoning_opaque":"abp1\./);
  });
});

it('what is emitted steps to the same answer, however it is cut', () => {
  fc.assert(
    fc.property(anyAnswer, fc.integer({ min: 1, max: 50 }), (answer, size) => {
      const again = stepsOfBytes(copilot, Buffer.from(emitted(copilot, answer)), size);
      expect(foldOf(again).response()).toEqual(foldOf(answer).response());
    }),
    { numRuns: 60 },
  );
});
