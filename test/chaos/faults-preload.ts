// Loaded into a server before its own code. It fills the disk of the journal and moves the clock when the chaos suite says so.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/** What the suite tells a server. */
export interface FaultMessage {
  readonly diskFull?: boolean;
  readonly clockMs?: number;
}

if (isMainThread && process.send !== undefined) {
  let diskFull = false;
  let clockMs = 0;
  const { writeSync } = fs;
  const now = Date.now;
  // Files that are written through a descriptor are those of the journal; the database has files of its own.
  fs.writeSync = ((...args: Parameters<typeof writeSync>) => {
    if (diskFull && args[0] > 2) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    return writeSync(...args);
  }) as typeof writeSync; // the same function with a reason to fail
  Date.now = () => now() + clockMs;
  syncBuiltinESMExports();
  process.on('message', (message: FaultMessage) => {
    diskFull = message.diskFull ?? diskFull;
    clockMs = message.clockMs ?? clockMs;
  });
  process.channel?.unref();
}
