import { setTimeout as sleep } from 'node:timers/promises';
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

/** Probes wait for a few seconds at most; a database that hangs is away long before. */
const PROBE_MS = 1000;

/** Whether the database answers; who is to know that it does so soon has an answer within a second. */
async function databaseState({ store, log }: Gateway, soon: boolean): Promise<'ok' | 'unreachable'> {
  const timer = new AbortController();
  const late = async (): Promise<never> => {
    await sleep(PROBE_MS, undefined, { signal: timer.signal });
    throw new Error(`no answer within ${PROBE_MS} ms`);
  };
  try {
    await (soon ? Promise.race([store.ping(), late()]) : store.ping());
    return 'ok';
  } catch (error) {
    log.warn({ error }, 'the database does not answer');
    return 'unreachable';
  } finally {
    timer.abort();
  }
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
    query: z.strictObject({
      of: z
        .literal('calls')
        .optional()
        .describe('Whether calls are taken: also while the database does not answer, to keys that were seen before. For load balancers.'),
    }),
    response: Ready,
    handle: async ({ gateway, query }) => {
      const ofCalls = query.of === 'calls';
      const database = await databaseState(gateway, ofCalls);
      // The reason of a stall is in the log; this route is public.
      const { blocked, chain } = gateway.keeper;
      const journal = journalState(gateway.keeper);
      const bucket = bucketState(gateway.keeper);
      const rest = { database, journal, chain, ...bucket };
      if (database !== 'ok' && !ofCalls) return new Reply(503, { status: 'degraded', ...rest });
      if (gateway.draining) return new Reply(503, { status: 'stopping', ...rest });
      // A cut that an earlier process noticed cannot be mended; it is told, and the server is ready.
      const whole = database === 'ok' && journal === 'ok' && chain !== 'cut' && bucket.bucket !== 'away';
      const answer = { status: whole ? 'ready' : 'degraded', ...rest } as const;
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
