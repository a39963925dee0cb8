import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'dist/**', 'test/slow/**'],
    // A net below everything that waits for a state by itself: so long that a busy machine never reaches it.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './test/support/summary-reporter.ts'],
    maxWorkers: 2,
  },
});
