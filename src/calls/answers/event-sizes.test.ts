import { expect, it } from 'vitest';
import { EventSizes } from './event-sizes.ts';

const chat = (delta: object, finish: string | null = null): object => ({ id: 'c', choices: [{ index: 0, delta, finish_reason: finish }] });
const claude = (text: string): object => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });

function writtenBy(events: readonly object[]): number | undefined {
  const sizes = new EventSizes();
  sizes.add(events.map((event) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`)));
  return sizes.written().writtenTokens;
}

const WORDS = 'word '.repeat(200);

it.each([
  ['a token in each', Array.from({ length: 40 }, (_, at) => chat({ content: at % 2 === 0 ? ' the' : ' tre' })), 40, 0],
  ['all of it in one', [chat({ content: WORDS })], 250, 0],
  ['all of it in one, an end beside it', [chat({ content: WORDS }), chat({}, 'stop')], 250, 6],
  ['all of it in one event of Claude', [claude(WORDS)], 250, 0],
  ['pieces of different lengths', [10, 40, 200, 350, 400].map((length) => claude('x'.repeat(length))), 250, 5],
  ['pieces of the same length', [100, 100, 100, 100].map((length) => claude('x'.repeat(length))), 100, 4],
  ['Gemini’s chunks', [200, 400, 400].map((length) => ({ candidates: [{ content: { parts: [{ text: 'x'.repeat(length) }] } }] })), 250, 3],
  [
    'Responses events',
    [60, 70, 70].map((length) => ({ type: 'response.output_text.delta', output_index: 0, delta: 'x'.repeat(length) })),
    50,
    3,
  ],
])('what a stream wrote is estimated from %s', (_, events, tokens, within) => {
  expect(Math.abs((writtenBy(events) ?? 0) - tokens)).toBeLessThanOrEqual(within);
});

it('nothing is estimated of nothing', () => {
  expect(writtenBy([])).toBeUndefined();
});
