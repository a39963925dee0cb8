import { expect, it } from 'vitest';
import { closingLine } from './summary-reporter.ts';

it('the last line of a test run says what passed, what failed, what was skipped and why', () => {
  expect(closingLine({ passed: 3, failed: 0, skipped: new Map() })).toBe('3 passed, 0 failed, 0 skipped');
  expect(closingLine({ passed: 3, failed: 1, skipped: new Map([['needs git', 2]]) })).toBe('3 passed, 1 failed, 2 skipped (needs git)');
  const skipped = new Map([
    ['needs git', 2],
    ['needs bubblewrap [bwrap]', 5],
  ]);
  expect(closingLine({ passed: 3, failed: 0, skipped })).toBe('3 passed, 0 failed, 7 skipped (5 needs bubblewrap [bwrap] · 2 needs git)');
});
