import { PerformanceObserver } from 'node:perf_hooks';
import v8 from 'node:v8';

/**
 * Keeps V8's young generation at its first size until `capYoungGeneration`. Loading modules makes much that lives on; V8 would enlarge
 * the young generation for it, once, and keep thirty megabytes that serving does not need.
 */
export function holdYoungGeneration(): void {
  v8.setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Keeps V8's young generation from growing beyond a size. On a large machine V8 lets it grow to 128 MB when many calls begin at once,
 * and keeps the memory; the limit can only be given on the command line, but growth can be switched off at any time.
 */
export function capYoungGeneration(bytes: number): void {
  let growing = true;
  v8.setFlagsFromString('--semi-space-growth-factor=2');
  const observer = new PerformanceObserver(() => {
    const small = youngBytes() < bytes;
    if (small === growing) return;
    growing = small;
    v8.setFlagsFromString(`--semi-space-growth-factor=${small ? 2 : 1}`);
  });
  observer.observe({ entryTypes: ['gc'] });
}

function youngBytes(): number {
  return v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
}
