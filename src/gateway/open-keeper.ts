import type { Logger } from 'pino';
import type { LiveRuns } from '../calls/live-runs.ts';
import { knownPrices } from '../engines/index.ts';
import type { Home } from '../home/home.ts';
import type { BucketState } from '../receipts/bodies/uploads.ts';
import type { Keeper } from '../receipts/keeper/keeper.ts';
import type { KeeperOptions } from '../receipts/keeper/keeper-protocol.ts';
import { protectSealKeys, sealKeysFolder } from '../receipts/seal/seal-keys.ts';
import type { Config } from './config.ts';
import type { HeadPublisher } from './head-publisher.ts';
import { bodyKeeping } from './recording.ts';
import { secretValues } from './secret-values.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

interface KeeperNeeds {
  readonly config: Config;
  readonly home: Home;
  readonly version: string;
  readonly log: Logger;
  /** Starts what keeps receipts. */
  readonly keep: (options: KeeperOptions) => Keeper;
}

/** Opens the keeper of receipts, and tells the log and the watchers what it sees. */
export function keeperOf(
  { config, home, version, log, keep }: KeeperNeeds,
  { live, heads, telemetry }: { readonly live: LiveRuns; readonly heads: HeadPublisher; readonly telemetry: Telemetry },
): Keeper {
  const databaseUrl = config.database.url;
  const { retention_days: retentionDays, deletion_days: deletionDays, key_secret: keySecret } = config.receipts;
  // Verifying also happens outside of the keeper's thread.
  protectSealKeys(sealKeysFolder(home.path), keySecret);
  return keep({
    homePath: home.path,
    journalFolder: home.journalFolder,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    version,
    keySecret,
    ...(retentionDays === undefined ? {} : { retentionDays }),
    ...(deletionDays === undefined ? {} : { deletionDays }),
    prices: knownPrices(),
    onHead: (document) => heads.publish(document),
    keeping: { ...bodyKeeping(config), secrets: secretValues(config, home.token) },
    onBucket: bucketTeller(log),
    onBodiesFault: (message) => log.error({ message }, 'a fault of recording; calls and receipts go on'),
    onBlocked: (message) => log.error({ message }, 'no call is taken until the journal can be written again; is the disk full?'),
    // Said again, because the log may be on the disk that was full.
    onUnblocked: (message) => log.warn({ message }, 'the journal can be written again, and calls are taken'),
    onUpkeepFault: (message) => log.error({ message }, 'upkeep of the database failed and is tried again; receipts are written'),
    onStalled: (message) => log.error({ message }, 'receipts are not reaching the database; they stay in the journal'),
    onFact: telemetry.watch.hear,
    onSettled: (runs, spent) => {
      live.settled(runs);
      telemetry.settledRuns(runs, spent);
    },
    onDamaged: (segment, bytes) =>
      log.error({ segment, bytes }, 'a part of the journal could not be read; it was set aside and named in the chain: abp doctor'),
    onChainCut: () =>
      log.error(
        {},
        'receipts that this server had signed are gone from the database, or others stand in their place: abp receipts verify --all',
      ),
    onClosedFor: (node, runs) => log.warn({ node, runs: runs.length }, 'a node was lost; its runs were closed as interrupted'),
  });
}

/** Says once that the bucket does not take bodies, and once that it does again. */
function bucketTeller(log: Logger): (state: BucketState) => void {
  let told: string | undefined;
  return ({ waiting, fault }) => {
    if (fault !== undefined && fault !== told)
      log.error({ message: fault, waiting }, 'bodies stay on the disk until the bucket takes them');
    if (fault === undefined && told !== undefined) log.warn({ waiting }, 'the bucket takes bodies again');
    told = fault;
  };
}
