import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { reasonIn } from './needs.ts';

interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** How many tests did not run, by the reason. */
  readonly skipped: ReadonlyMap<string, number>;
}

/** The last line of a test run: what passed, what failed, what was skipped and why. */
export function closingLine({ passed, failed, skipped }: Counts): string {
  const reasons = [...skipped].toSorted(([, a], [, b]) => b - a);
  const total = reasons.reduce((sum, [, count]) => sum + count, 0);
  const why = reasons.map(([reason, count]) => (reasons.length === 1 ? reason : `${count} ${reason}`)).join(' · ');
  return `${passed} passed, ${failed} failed, ${total} skipped${why === '' ? '' : ` (${why})`}`;
}

/** A hook that breaks keeps all tests of its suite from running. */
function isBelowBroken({ parent }: TestCase): boolean {
  for (let suite = parent; ; suite = suite.parent) {
    if (suite.errors().length > 0) return true;
    if (suite.type === 'module') return false;
  }
}

function reasonOf(test: TestCase, note: string | undefined): string {
  return note ?? reasonIn(test.fullName) ?? (isBelowBroken(test) ? 'a hook of the suite failed' : 'no reason given');
}

/** Ends a test run with one line of counts and of reasons. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    const skipped = new Map<string, number>();
    for (const module of modules) {
      let tests = 0;
      for (const test of module.children.allTests()) {
        tests += 1;
        const result = test.result();
        counts[result.state] += 1;
        if (result.state !== 'skipped') continue;
        const reason = reasonOf(test, result.note);
        skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
      }
      // A file that fails before its first test, or in a hook of all of them, is a failure although it has no failed test.
      if (module.state() === 'failed' && (tests === 0 || module.errors().length > 0)) counts.failed += 1;
    }
    const failed = counts.failed + counts.pending + errors.length;
    process.stdout.write(`\n${closingLine({ passed: counts.passed, failed, skipped })}\n`);
  }
}
