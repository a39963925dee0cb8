import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    exclude: ['**/node_modules/**', 'dist/**', 'test/slow/**'],
    // A net below everything that waits for a state by itself: so long that a busy machine never reaches it.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './test/support/summary-reporter.ts'],
    // Many tests wait for another process; one worker more than there are cores uses that time.
    maxWorkers: availableParallelism() + 1,
    projects: [
      // Tests beside the code leave nothing behind, so that they share their processes and load each module once: 36 s of work instead of 90.
      { extends: true, test: { name: 'src', include: ['src/**/*.test.ts'], isolate: false } },
      { extends: true, test: { name: 'test', include: ['test/**/*.test.ts'] } },
    ],
  },
});
