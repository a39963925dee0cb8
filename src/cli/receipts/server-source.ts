import { isoTime } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import { type Connection, send } from '../../client/http.ts';
import type { SealKey } from '../../contract/receipts/chain.ts';
import type { ChainVerification } from '../../contract/receipts/chain-verification.ts';
import type { RunReport } from '../../gateway/api/reports.ts';
import type { RunRow } from '../../gateway/api/run-rows.ts';
import { clientOf, objectOf, reached, type ServingServer } from '../client.ts';
import { CliError } from '../failure.ts';
import type { Listed, ReceiptSource } from './source.ts';

type Values = Readonly<Record<string, string | number | boolean | undefined>>;

function queryOf({ since, until, ...rest }: Values): string {
  const query = new URLSearchParams();
  const all = { ...rest, since: timeText(since), until: timeText(until) };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) query.append(name, String(value));
  return query.toString();
}

function timeText(time: Values[string]): string | undefined {
  return typeof time === 'number' ? isoTime(time) : time?.toString();
}

/** Receipts of the server that the commands of a home go to. */
export function serverSource({ address, secret }: ServingServer): ReceiptSource {
  const { call, connection, document } = clientOf(address, secret);
  return {
    get: async (run) => objectOf(await call('GET', `/v1/receipts/${run}`)),
    report: (run) => document<RunReport>(`/v1/receipts/${run}/report`),
    // Whose receipts they are is the server's business: it knows the caller.
    list: ({ keys: _keys, ...options }) => document<Listed<JsonObject>>(`/v1/receipts?${queryOf(options)}`),
    rows: ({ keys: _keys, ...options }) => document<Listed<RunRow>>(`/v1/receipts?${queryOf({ ...options, view: 'row' })}`),
    export: (filter, range) => pieces({ address, connection }, `/v1/receipts/export?${queryOf({ ...filter, ...range })}`),
    verify: (range) => document<ChainVerification>(`/v1/receipts/verify?${queryOf({ ...range })}`),
    verifyRun: (run) => document<ChainVerification>(`/v1/receipts/${run}/verify`),
    keys: async () => (await document<{ readonly items: readonly SealKey[] }>('/v1/receipts/keys')).items,
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

interface Source {
  readonly address: ServingServer['address'];
  readonly connection: Connection;
}

async function* pieces({ address, connection }: Source, path: string): AsyncGenerator<Uint8Array> {
  yield* (await reached(address, send(connection, path))).body ?? [];
}
