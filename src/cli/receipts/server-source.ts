import { isoTime } from '../../base/clock.ts';
import { type Connection, send } from '../../client/http.ts';
import type { SealKey } from '../../contract/receipts/chain.ts';
import type { ChainVerification } from '../../contract/receipts/chain-verification.ts';
import type { ServerAddress } from '../../home/address.ts';
import { clientOf, itemsOf, objectOf } from '../client.ts';
import { CliError } from '../failure.ts';
import type { ReceiptSource } from './source.ts';

type Values = Readonly<Record<string, string | number | undefined>>;

function queryOf({ since, until, ...rest }: Values): string {
  const query = new URLSearchParams();
  const all = { ...rest, since: timeText(since), until: timeText(until) };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) query.append(name, String(value));
  return query.toString();
}

function timeText(time: string | number | undefined): string | undefined {
  return typeof time === 'number' ? isoTime(time) : time;
}

/** Receipts of a live server, asked with the token of its home. */
export function serverSource(address: ServerAddress, token: string): ReceiptSource {
  const { call, connection } = clientOf(address, token);
  return {
    get: async (run) => objectOf(await call('GET', `/v1/receipts/${run}`)),
    list: async (options) => {
      const answer = await call('GET', `/v1/receipts?${queryOf({ ...options })}`);
      const next = objectOf(answer).next_cursor;
      return { items: itemsOf(answer), nextCursor: typeof next === 'string' ? next : undefined };
    },
    export: (filter, range) => pieces(connection, `/v1/receipts/export?${queryOf({ ...filter, ...range })}`),
    // The server's own document.
    verify: async (range) => objectOf(await call('GET', `/v1/receipts/verify?${queryOf({ ...range })}`)) as unknown as ChainVerification,
    keys: async () => itemsOf(await call('GET', '/v1/receipts/keys')) as unknown as SealKey[], // the server's own document
    head: async () => objectOf(await call('GET', '/v1/receipts/head')),
    rotate: async (lost) => {
      if (lost)
        throw new CliError('usage', '--lost needs the server stopped', { hint: 'A server that runs has its key. Leave --lost out.' });
      const { old_key: oldKey, new_key: newKey } = objectOf(await call('POST', '/v1/receipts/keys/rotate', {}));
      return { oldKey: String(oldKey), newKey: String(newKey) };
    },
    remove: async ({ endedBefore, status, reason, key, tag }) => {
      const before = timeText(endedBefore);
      const body = {
        status,
        reason,
        ...(key !== undefined && { key }),
        ...(tag !== undefined && { tag }),
        ...(before !== undefined && { before }),
      };
      return Number(objectOf(await call('POST', '/v1/receipts/remove', body)).count);
    },
    close: async () => undefined,
  };
}

async function* pieces(connection: Connection, path: string): AsyncGenerator<Uint8Array> {
  yield* (await send(connection, path)).body ?? [];
}
