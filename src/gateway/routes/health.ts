import { z } from 'zod';
import { CONTRACT_VERSION } from '../../contract/version.ts';
import type { Keeper } from '../../receipts/keeper/keeper.ts';
import type { Gateway } from '../gateway.ts';
import { Reply } from '../reply.ts';
import { defineRoute } from '../route.ts';
import { Exposition } from '../telemetry/exposition.ts';

const Health = z.strictObject({ status: z.literal('ok'), version: z.string(), contract_version: z.string() });
const Ready = z.strictObject({ status: z.enum(['ready', 'degraded']), database: z.string(), journal: z.string(), chain: z.string() });

function journalState({ blocked, stalled, damaged }: Keeper): string {
  if (blocked !== undefined) return 'unwritable';
  if (stalled !== undefined) return 'stalled';
  return damaged ? 'damaged' : 'ok';
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const expositions = new WeakMap<Gateway, Exposition>();

/** The metrics of the server as Prometheus reads them. */
export async function metricsReply(gateway: Gateway): Promise<Reply> {
  const exposition = expositions.get(gateway) ?? new Exposition(gateway);
  expositions.set(gateway, exposition);
  return new Reply(200, await exposition.text(), { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' });
}

export const healthRoutes = [
  defineRoute({
    method: 'GET',
    path: '/healthz',
    summary: 'The process lives.',
    response: Health,
    handle: ({ gateway }) => ({ status: 'ok', version: gateway.version, contract_version: CONTRACT_VERSION }),
  }),
  defineRoute({
    method: 'GET',
    path: '/readyz',
    summary: 'The process serves: 200 when ready, 503 while the database does not answer or the journal cannot be written.',
    response: Ready,
    handle: async ({ gateway }) => {
      // The reason of a stall is in the log; this route is public.
      const { blocked } = gateway.keeper;
      const journal = journalState(gateway.keeper);
      const { chain } = gateway.keeper;
      try {
        await gateway.store.ping();
      } catch (error) {
        gateway.log.warn({ error }, 'the database does not answer');
        return new Reply(503, { status: 'degraded', database: 'unreachable', journal, chain });
      }
      // A cut that an earlier process noticed cannot be mended; it is told, and the server is ready.
      const answer = { status: journal === 'ok' && chain !== 'cut' ? 'ready' : 'degraded', database: 'ok', journal, chain };
      return blocked === undefined ? answer : new Reply(503, answer);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/metrics',
    summary: 'Numbers about this server in the text format of Prometheus.',
    handle: ({ gateway }) => metricsReply(gateway),
  }),
];
