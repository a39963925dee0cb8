import { expect, it } from 'vitest';
import { conforms, summarize } from './report.ts';
import type { Result } from './suite.ts';

const base = { id: 'a', title: 'a', problems: [] } as const;
const results: readonly Result[] = [
  { ...base, dialect: 'claude', category: 'parity', outcome: 'pass', mode: 'mapped' },
  { ...base, dialect: 'claude', category: 'parity', outcome: 'fail', problems: ['wrong'], mode: 'mapped' },
  { ...base, dialect: 'claude', category: 'receipt', outcome: 'skip', reason: 'no receipts', mode: 'mapped' },
  { ...base, dialect: 'gemini', category: 'receipt', outcome: 'skip', reason: 'no receipts' },
];

it('counts by dialect and category, in the order they were asked, with the reasons to skip', () => {
  expect(summarize(results)).toEqual({
    pass: 1,
    fail: 1,
    skip: 2,
    dialects: [
      { dialect: 'claude', mode: 'mapped', categories: { parity: { pass: 1, fail: 1, skip: 0 }, receipt: { pass: 0, fail: 0, skip: 1 } } },
      { dialect: 'gemini', mode: null, categories: { receipt: { pass: 0, fail: 0, skip: 1 } } },
    ],
    reasons: { 'no receipts': 2 },
  });
});

it('conforms when something passed and nothing failed', () => {
  expect(conforms({ pass: 1, fail: 0, skip: 9 })).toBe(true);
  expect(conforms({ pass: 1, fail: 1, skip: 0 })).toBe(false);
  expect(conforms({ pass: 0, fail: 0, skip: 9 })).toBe(false);
});
