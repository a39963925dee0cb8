import { expect, it } from 'vitest';
import { nothingText } from './nothing.ts';

it.each([
  [{}, 'No receipts.'],
  [{ failed: true, since: 17 }, 'No receipts.'],
  [{ engine: undefined, model: 'q' }, 'No receipts with --model q.'],
  [{ engine: 'opneai' }, 'No receipts with --engine opneai. Did you mean openai?'],
  [{ engine: 'my-gpu', tag: 'a' }, 'No receipts with --engine my-gpu --tag a. abp capabilities shows the engines.'],
  [{ engine: 'anthropic' }, 'No receipts with --engine anthropic.'],
])('says what was looked for in vain: %j', (chosen, text) => {
  expect(nothingText('No receipts', chosen)).toBe(text);
});
