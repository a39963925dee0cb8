import { once } from 'node:events';
import pg from 'pg';
import { randomToken } from '../../base/ids.ts';
import { AbpError } from '../../contract/errors.ts';

/** Hears notices of other processes on a connection of its own. */
export interface Listener {
  close(): Promise<void>;
}

export interface ListenerOptions {
  readonly url: string;
  readonly channels: readonly string[];
  readonly onNotice: (channel: string, payload: string) => void;
  /** The connection was lost and is back: notices may have been missed. */
  readonly onGap: () => void;
  readonly onTrouble: (error: unknown) => void;
  /** Notices do not arrive over this address at all. Who cannot do without them throws. */
  readonly onDeaf: (error: AbpError) => void | Promise<void>;
  /** How long the first notice may take; undefined: as long as none ever takes that arrives. */
  readonly heardMs?: number;
}

const RETRY_MS = 1000;
const APPLICATION = 'agent-backplane notices';
/** PostgreSQL sends a notice as soon as it is committed; what has not come by then never does. */
const MOST_HEARD_MS = 10_000;
/** Addresses over which notices arrive. */
const heardFrom = new Set<string>();

/** Listens until it is closed; a lost connection is opened again. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  let closed = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** A connection that fails says so twice, by its end and by its error; it is opened again once. */
  const retry = (): void => {
    clearTimeout(timer);
    timer = closed ? undefined : setTimeout(again, RETRY_MS);
  };
  const connect = async (): Promise<void> => {
    const own = new pg.Client({ connectionString: options.url, application_name: APPLICATION, keepAlive: true });
    client = own;
    own.on('notification', ({ channel, payload = '' }) => {
      if (options.channels.includes(channel)) options.onNotice(channel, payload);
    });
    own.on('error', options.onTrouble);
    own.on('end', retry);
    await own.connect();
    for (const channel of options.channels) await own.query(`listen ${channel}`);
    if (heardFrom.has(options.url)) return;
    if (await hears(own, options.url, options.heardMs ?? MOST_HEARD_MS)) heardFrom.add(options.url);
    else await options.onDeaf(new AbpError('internal', DEAF));
  };
  const again = (): void => {
    connect().then(options.onGap, (error: unknown) => {
      options.onTrouble(error);
      retry();
    });
  };
  try {
    await connect();
  } catch (error) {
    closed = true;
    await client?.end();
    throw error;
  }
  return {
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await client?.end();
    },
  };
}

/**
 * Nodes that do not hear each other would go on with budgets, keys and limits of before. Sent over a connection of its own: a pooler that lends
 * connections for one transaction each passes on what comes while somebody has one, and nothing to those who wait.
 */
async function hears(listening: pg.Client, url: string, withinMs: number): Promise<boolean> {
  const channel = `abp_heard_${randomToken(8)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '_')}`;
  await listening.query(`listen ${channel}`);
  const other = new pg.Client({ connectionString: url, application_name: APPLICATION });
  await other.connect();
  try {
    const heard = isHeard(listening, channel, AbortSignal.timeout(withinMs));
    await other.query(`notify ${channel}`);
    return await heard;
  } finally {
    await other.end();
    await listening.query(`unlisten ${channel}`);
  }
}

async function isHeard(client: pg.Client, wanted: string, signal: AbortSignal): Promise<boolean> {
  try {
    for (;;) {
      const [{ channel }] = await once(client, 'notification', { signal });
      if (channel === wanted) return true;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return false;
  }
}

const DEAF =
  'the database answers, but notices (LISTEN, NOTIFY), by which nodes tell each other of changed keys and budgets, do not arrive: something between lends its connections for one transaction each, as PgBouncer with pool_mode = transaction does; use pool_mode = session, or the address of PostgreSQL itself';
