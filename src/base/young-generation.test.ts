import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** Keeps 100 MB of small objects alive, which makes V8 enlarge the young generation, and prints its size in MB. */
const SCRIPT = `
  import v8 from 'node:v8';
  import { capYoungGeneration } from ${JSON.stringify(new URL('./young-generation.ts', import.meta.url))};
  const mb = Number(process.argv[1]);
  if (mb > 0) capYoungGeneration(mb * 1024 * 1024);
  const kept = [];
  for (let turn = 0; turn < 200; turn += 1) {
    for (let one = 0; one < 4000; one += 1) kept.push({ turn, one, list: [turn, one, turn, one, turn, one] });
    await new Promise((resolve) => setImmediate(resolve));
  }
  const young = v8.getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  if (kept.length === 0) throw new Error('nothing was kept alive');
  process.stdout.write(String(young.space_size / 1024 / 1024));
`;

function youngMb(cap: number): number {
  return Number(
    execFileSync(process.execPath, ['--max-semi-space-size=64', '--input-type=module', '-e', SCRIPT, String(cap)], { encoding: 'utf8' }),
  );
}

describe('capYoungGeneration', () => {
  it('stops the growth at the size it is given, one step late at most', () => {
    expect(youngMb(16)).toBeLessThanOrEqual(32);
  });

  it('is needed: without it the same work makes the young generation larger', () => {
    expect(youngMb(0)).toBeGreaterThan(32);
  });
});
