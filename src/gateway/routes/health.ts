import { z } from 'zod';
import { CONTRACT_VERSION } from '../../contract/version.ts';
import type { Keeper } from '../../receipts/keeper/keeper.ts';
import type { Gateway } from '../gateway.ts';
import { mergeMetrics } from '../processes/merge-metrics.ts';
import { Reply } from '../reply.ts';
import { defineRoute } from '../route.ts';
import { Exposition } from '../telemetry/exposition.ts';

const Health = z.strictObject({ status: z.literal('ok'), version: z.string(), contract_version: z.string() });
const Ready = z.strictObject({
  status: z.enum(['ready', 'degraded', 'stopping']),
  database: z.string(),
  journal: z.string(),
  chain: z.string(),
  bucket: z.enum(['ok', 'away']).optional().describe('Whether it takes recorded bodies, where recording.store names one.'),
});

function journalState({ blocked, stalled, damaged }: Keeper): string {
  if (blocked !== undefined) return 'unwritable';
  if (stalled !== undefined) return 'stalled';
  return damaged ? 'damaged' : 'ok';
}

function bucketState({ bucket }: Keeper): { readonly bucket?: 'ok' | 'away' } {
  if (bucket === undefined) return {};
  return { bucket: bucket.fault === undefined ? 'ok' : 'away' };
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The metrics of the server as Prometheus reads them: of all processes that share its port, unless those of this one are asked for. */
export async function metricsReply(gateway: Gateway, of?: 'process'): Promise<Reply> {
  const { siblings, telemetry } = gateway;
  telemetry.exposition ??= new Exposition(gateway);
  const { exposition } = telemetry;
  const text =
    siblings === undefined || of === 'process'
      ? await exposition.text()
      : mergeMetrics(new Map([...(await siblings.metrics()), [siblings.number, await exposition.text()]]));
  return new Reply(200, text, { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' });
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
    summary:
      'The process serves: 200 when ready, 503 while the database does not answer, the journal cannot be written, or the server is about to stop.',
    response: Ready,
    handle: async ({ gateway }) => {
      // The reason of a stall is in the log; this route is public.
      const { blocked } = gateway.keeper;
      const journal = journalState(gateway.keeper);
      const { chain } = gateway.keeper;
      const bucket = bucketState(gateway.keeper);
      try {
        await gateway.store.ping();
      } catch (error) {
        gateway.log.warn({ error }, 'the database does not answer');
        return new Reply(503, { status: 'degraded', database: 'unreachable', journal, chain, ...bucket });
      }
      if (gateway.draining) return new Reply(503, { status: 'stopping', database: 'ok', journal, chain, ...bucket });
      // A cut that an earlier process noticed cannot be mended; it is told, and the server is ready.
      const answer = {
        status: journal === 'ok' && chain !== 'cut' && bucket.bucket !== 'away' ? 'ready' : 'degraded',
        database: 'ok',
        journal,
        chain,
        ...bucket,
      };
      return blocked === undefined ? answer : new Reply(503, answer);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/metrics',
    summary: 'Numbers about this server in the text format of Prometheus.',
    query: z.strictObject({
      of: z.literal('process').optional().describe('Of several processes that share the port, only the one that is asked.'),
    }),
    handle: ({ gateway, query }) => metricsReply(gateway, query.of),
  }),
];
