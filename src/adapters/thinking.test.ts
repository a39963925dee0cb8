import fc from 'fast-check';
import { expect, it } from 'vitest';
import { THINKING_EFFORT_LEVELS } from '../contract/runs/coding-agent.ts';
import type { ThinkingRule } from './adapter.ts';
import { adapters } from './index.ts';
import { EFFORT_WORDS, normaliseThinking } from './thinking.ts';

const [first] = adapters;
const capabilities = first!.capabilities;
const rules: readonly ThinkingRule[] = [
  { kind: 'budget', parameter: 'budget_tokens' },
  { kind: 'level', parameter: 'reasoning_effort', words: EFFORT_WORDS },
  { kind: 'provider' },
  { kind: 'none', reason: 'of a test' },
];

const wishes = fc.record(
  {
    thinkingEffort: fc.constantFrom(...THINKING_EFFORT_LEVELS),
    thinkingBudgetTokens: fc.integer({ min: 1, max: 200_000 }),
    thinkingOverride: fc.dictionary(fc.string(), fc.integer()),
    model: fc.constantFrom('anthropic/x', 'google/x', 'openai/x', 'x'),
  },
  { requiredKeys: [] },
);

it('whatever is wished, every member of the override stands in the result', () => {
  fc.assert(
    fc.property(fc.constantFrom(...rules), wishes, (thinking, wish) => {
      const { native } = normaliseThinking({ adapter: { thinking, capabilities } }, wish);
      expect(native).toMatchObject(wish.thinkingOverride ?? {});
    }),
  );
});

it('nothing wished is nothing sent, whatever the rule', () => {
  for (const thinking of rules) expect(normaliseThinking({ adapter: { thinking, capabilities } }, {})).toEqual({ native: {}, notes: [] });
});

it('what is wished and not sent as it was is always said', () => {
  fc.assert(
    fc.property(fc.constantFrom(...rules), wishes, (thinking, { thinkingOverride: _none, ...wish }) => {
      const { native, notes } = normaliseThinking({ adapter: { thinking, capabilities } }, wish);
      const asked = wish.thinkingEffort !== undefined || wish.thinkingBudgetTokens !== undefined;
      expect(asked).toBe(Object.keys(native).length + notes.length > 0);
    }),
  );
});
