// Loaded into a server before its own code (`node --import`). It tells how long the server's event loop was held, and what the process takes.
import { isMainThread } from 'node:worker_threads';

/** What a server went through since it was last asked. */
export interface Measured {
  /** Milliseconds of processor time that one turn of the event loop took at most. A busy machine does not change it, as it does the clock. */
  readonly heldMs: number;
  /** The same by the clock. */
  readonly silentMs: number;
  /** The most memory that the process had. */
  readonly rssMb: number;
}

const TICK_MS = 2;
const RSS_MS = 20;
const MIB = 1024 * 1024;

if (isMainThread && process.send !== undefined) {
  const cpuMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let last = { cpu: cpuMs(), at: performance.now() };
  let rssAt = 0;
  let most = { heldMs: 0, silentMs: 0, rssMb: 0 };
  const look = (): void => {
    const now = { cpu: cpuMs(), at: performance.now() };
    if (now.at - rssAt > RSS_MS) {
      rssAt = now.at;
      most.rssMb = Math.max(most.rssMb, process.memoryUsage.rss() / MIB);
    }
    most.heldMs = Math.max(most.heldMs, now.cpu - last.cpu);
    most.silentMs = Math.max(most.silentMs, now.at - last.at);
    last = now;
  };
  setInterval(look, TICK_MS).unref();
  process.on('message', (message) => {
    if (message !== 'measured') return;
    look();
    process.send?.({ measured: most });
    most = { heldMs: 0, silentMs: 0, rssMb: process.memoryUsage.rss() / MIB };
  });
  // Listening must not keep a server alive that wants to end.
  process.channel?.unref();
}
