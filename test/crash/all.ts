// Runs the crash suites at their full size: `npm run crash`.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', 'test/crash', 'test/platform/crash', 'test/sandbox/kill.test.ts', '--reporter=verbose'],
  {
    stdio: 'inherit',
    env: { ...process.env, ABP_CRASH: 'all', ABP_CRASH_ROUNDS: '20' },
  },
);
process.exitCode = status ?? 1;
