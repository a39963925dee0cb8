/** Milliseconds of processor time that work of this thread took: others may use the machine meanwhile. */
export function processorMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  return msSince(before);
}

function msSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** What came of the work, and the longest piece of it, in milliseconds of processor time, in which this thread served nobody else. */
export async function longestPiece<T>(work: Promise<T>): Promise<readonly [T, number]> {
  let longest = 0;
  let last = process.threadCpuUsage();
  const look = (): void => {
    longest = Math.max(longest, msSince(last));
    last = process.threadCpuUsage();
  };
  const watch = setInterval(look, 5);
  try {
    return [await work, longest];
  } finally {
    clearInterval(watch);
  }
}

/** Reads the time, and how much of it this process, which drives the run, did not get from a busy machine. */
export function stopwatch(): () => { ms: number; lost: number } {
  const EVERY_MS = 10;
  const began = performance.now();
  let [last, lost] = [began, 0];
  const timer = setInterval(() => {
    const now = performance.now();
    lost += Math.max(0, now - last - 2 * EVERY_MS);
    last = now;
  }, EVERY_MS);
  return () => {
    clearInterval(timer);
    return { ms: Math.round(performance.now() - began), lost: Math.round(lost) };
  };
}
