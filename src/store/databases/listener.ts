import pg from 'pg';

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
}

const RETRY_MS = 1000;

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
    const own = new pg.Client({ connectionString: options.url, application_name: 'agent-backplane notices', keepAlive: true });
    client = own;
    own.on('notification', ({ channel, payload = '' }) => options.onNotice(channel, payload));
    own.on('error', options.onTrouble);
    own.on('end', retry);
    await own.connect();
    for (const channel of options.channels) await own.query(`listen ${channel}`);
  };
  const again = (): void => {
    connect().then(options.onGap, (error: unknown) => {
      options.onTrouble(error);
      retry();
    });
  };
  await connect();
  return {
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await client?.end();
    },
  };
}
