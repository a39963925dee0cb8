import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LiveRuns } from '../../calls/live-runs.ts';
import { AbpError } from '../../contract/errors.ts';
import { openHome, processFolders } from '../../home/home.ts';
import { startKeeper } from '../../receipts/keeper/keeper.ts';
import type { Gateway } from '../gateway.ts';
import { HeadPublisher } from '../head-publisher.ts';
import { keeperOf } from '../open-keeper.ts';
import { Telemetry } from '../telemetry/telemetry.ts';

/**
 * Writes down what killed processes left in their journals that have no successor, because fewer processes serve now. One that ended
 * properly left nothing.
 */
export async function settleRetired(gateway: Gateway, serving: number): Promise<void> {
  const { home, log } = gateway;
  const retired = [...processFolders(home.installation)].filter(([number, folder]) => number > serving && hasFacts(folder));
  for (const [number, folder] of retired) {
    const interrupted = await settle(gateway, folder);
    if (interrupted !== undefined && interrupted > 0)
      log.warn({ process: number, interrupted }, 'runs of a process that serves no more were closed as interrupted');
  }
}

function hasFacts(folder: string): boolean {
  const journal = join(folder, 'journal');
  return existsSync(journal) && readdirSync(journal).length > 0;
}

/** The number of runs that had not ended; undefined where another process is at work in the folder. */
async function settle({ config, version, log }: Gateway, folder: string): Promise<number | undefined> {
  const home = openHome({ path: folder });
  const lock = lockOf(() => home.lockServer());
  if (lock === undefined) return undefined;
  const heads = new HeadPublisher({ webhook: config.receipts.head_webhook, log });
  const telemetry = new Telemetry(config, log, false);
  const keeper = keeperOf({ config, home, version, log, keep: startKeeper }, { live: new LiveRuns(), heads, telemetry });
  try {
    return await keeper.ready;
  } finally {
    await keeper.close();
    await telemetry.close();
    await heads.close();
    lock.release();
  }
}

function lockOf<T>(take: () => T): T | undefined {
  try {
    return take();
  } catch (error) {
    if (AbpError.is(error) && error.code === 'conflict') return undefined;
    throw error;
  }
}
