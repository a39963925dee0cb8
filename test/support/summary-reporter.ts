import type { Reporter, TestModule } from 'vitest/node';
import { reasonIn } from './needs.ts';

/** Ends a test run with what was skipped, for which reason, and one line of counts. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    const reasons = new Map<string, number>();
    for (const module of modules) {
      let tests = 0;
      for (const test of module.children.allTests()) {
        tests += 1;
        const result = test.result();
        counts[result.state] += 1;
        if (result.state !== 'skipped') continue;
        const reason = ('note' in result ? result.note : undefined) ?? reasonIn(test.fullName) ?? 'no reason given';
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
      // A file that fails before its first test, or in a hook of all of them, is a failure although it has no failed test.
      if (module.state() === 'failed' && (tests === 0 || module.errors().length > 0)) counts.failed += 1;
    }
    const lines = [...reasons].toSorted(([, a], [, b]) => b - a).map(([reason, count]) => `  ${count} skipped: ${reason}`);
    const failed = counts.failed + counts.pending + errors.length;
    process.stdout.write(
      `\n${lines.map((line) => `${line}\n`).join('')}${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped\n`,
    );
  }
}
