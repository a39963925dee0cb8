import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { IrEffort, IrRequest } from '../../ir/request.ts';
import { countTokens } from '../../ir/token-estimate.ts';
import { thoughtFor } from './thinking.ts';

const base: IrRequest = { model: 'sim', stream: false, stop: [], sampling: {}, vendor: {}, tools: [], messages: [] };

function tokens(members: Partial<IrRequest>): number {
  return thoughtFor({ ...base, ...members }, 'seed')?.tokens ?? 0;
}

test('thinking is off unless it is asked for', () => {
  expect(tokens({})).toBe(0);
  expect(tokens({ effort: 'none' })).toBe(0);
  expect(tokens({ thinking: { mode: 'disabled' }, effort: 'high' })).toBe(0);
});

test('thinking grows with the effort', () => {
  const efforts: readonly IrEffort[] = ['low', 'medium', 'high', 'xhigh', 'max'];
  expect(efforts.map((effort) => tokens({ effort }))).toEqual([16, 32, 64, 96, 128]);
});

test('thinking grows with the budget where no effort is given', () => {
  const budgets = [1024, 8192, 32768, 65536];
  expect(budgets.map((budgetTokens) => tokens({ thinking: { mode: 'enabled', budgetTokens } }))).toEqual([16, 45, 90, 128]);
});

test('adaptive thinking without an effort has a middle length', () => {
  expect(tokens({ thinking: { mode: 'adaptive' } })).toBe(32);
});

test('thinking stays within its budget and leaves half of the answer to words', () => {
  expect(tokens({ effort: 'max', thinking: { mode: 'enabled', budgetTokens: 10 } })).toBe(10);
  expect(tokens({ effort: 'max', maxTokens: 40 })).toBe(20);
  expect(tokens({ effort: 'max', maxTokens: 1 })).toBe(0);
});

test('the text has exactly the tokens that are counted', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200_000 }), (budgetTokens) => {
      const thought = thoughtFor({ ...base, thinking: { mode: 'enabled', budgetTokens } }, 'seed');
      expect(countTokens(thought?.text ?? '')).toBe(thought?.tokens);
      expect(thought?.tokens).toBeLessThanOrEqual(budgetTokens);
    }),
  );
});

test('omitted thinking has a signature and a count but no text', () => {
  const thought = thoughtFor({ ...base, thinking: { mode: 'adaptive', display: 'omitted' } }, 'seed');
  expect(thought).toEqual({ text: '', tokens: 32, signature: 'wjO8Z73NC7i7OiInhiNuiEBjfDtOoV9cEn0EQvK6Psg=' });
});
