/** Milliseconds of processor time that the work below takes on the machine for which limits in milliseconds are stated. */
const STATED_MS = 8;

/**
 * How many times longer this machine takes than the one for which limits are stated, at least once as long: a limit of 50 ms is a promise
 * about so much work, and a slow or a crowded machine takes longer for the same.
 */
export function slowness(): number {
  const text = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => ({ role: 'user', content: `message ${at}`, at })));
  const taken = Array.from({ length: 5 }, () => {
    const before = process.threadCpuUsage();
    JSON.stringify(JSON.parse(text));
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.max(1, Math.min(...taken) / STATED_MS);
}
