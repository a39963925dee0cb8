import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Every gateway that a test starts loads the keeper in a thread, which compiles its modules anew unless Node may keep them: half the work
// of a suite that starts a dozen of them.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));

// Vite takes its modules by addresses, in which these signs of a folder's name mean something else; it fails with words that do not say so.
const folder = fileURLToPath(new URL('.', import.meta.url));
if (/[#?]|%[0-9a-f]{2}/i.test(folder)) {
  throw new Error(`The tests cannot run in ${folder}: Vite cannot read a path with #, ? or % in it. Clone into a folder without them.`);
}

/**
 * Suites that need a process of their own: they measure it, watch the methods of its database, or change where it looks for temporary
 * files. All others leave nothing behind, so that they share a process per worker, load each module once and use one PostgreSQL.
 */
const ALONE = [
  'test/platform/sandbox/**/*.test.ts',
  'test/platform/statements.test.ts',
  'test/console/**/*.test.ts',
  'test/e2e/browser.test.ts',
];

/** Rounds of killed servers, workers and agents, lost nodes and outages take minutes: they are the business of `npm run crash`. */
const CRASHES = ['test/recording/crash.test.ts', 'test/platform/crash/**', 'test/crash/**', 'test/sandbox/kill.test.ts'];

/** Pictures of every page and lists of 100,000 runs take minutes: they are the business of `npm run test:console`. */
const LONG_CONSOLE = [
  'test/console/pictures.test.ts',
  'test/console/many-runs.test.ts',
  'test/console/trust.test.ts',
  'test/console/ends.test.ts',
  'test/console/sign-in.test.ts',
  'test/console/states.test.ts',
  'test/console/telling.test.ts',
  'test/console/long-day.test.ts',
  'test/console/forged-seals.test.ts',
  'test/console/workshop.test.ts',
  'test/console/gallery.test.ts',
];

export default defineConfig({
  resolve: {
    // Modules of `src` that start a thread get it from the build; see the module that takes the place of theirs.
    alias: [
      { find: /^(\.\.?\/)+(base\/)?own-files\.ts$/, replacement: fileURLToPath(new URL('test/support/built-modules.ts', import.meta.url)) },
    ],
  },
  test: {
    exclude: [
      ...['**/node_modules/**', 'dist/**'],
      ...(process.env.ABP_CRASH === 'all' ? [] : CRASHES),
      ...(process.env.ABP_CONSOLE === 'all' ? [] : LONG_CONSOLE),
    ],
    globalSetup: './test/support/build.ts',
    // A net below everything that waits for a state by itself: so long that a busy machine never reaches it.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './test/support/summary-reporter.ts'],
    // A worker runs hundreds of suites; with more room for short-lived objects it collects garbage less often.
    execArgv: ['--max-semi-space-size=64'],
    // Many tests wait for another process; three workers more than there are cores use that time.
    maxWorkers: availableParallelism() + 3,
    projects: [
      { extends: true, test: { name: 'src', include: ['src/**/*.test.ts'], isolate: false } },
      { extends: true, test: { name: 'test', include: ['test/**/*.test.ts'], exclude: ALONE, isolate: false } },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
  },
});
