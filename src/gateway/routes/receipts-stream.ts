import { Readable } from 'node:stream';
import { AbpError } from '../../contract/errors.ts';
import { parseRunId } from '../../contract/run-id.ts';
import { ARCHIVED, DELETED } from '../../store/receipts/receipt-columns.ts';
import { getReceipt, type SealedReceipt, sealedAfter } from '../../store/receipts/receipts.ts';
import { ReceiptStreamQuery } from '../api/receipts.ts';
import { maySee } from '../auth/access.ts';
import type { Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import { Reply } from '../reply.ts';
import { defineRoute } from '../route.ts';
import { ChainPlaces, isPlace, OTHERS_MS } from '../rows/chain-places.ts';
import { SettleBell } from '../rows/settle-bell.ts';

const PAGE = 100;
/** Proxies close connections that are silent for half a minute. */
const KEEP_ALIVE_MS = 15_000;
const REMOVED = new Set([ARCHIVED, DELETED]);

/** Where a caller wants to go on: after a place that a stream told, or after a run. */
async function placesAfter(gateway: Gateway, after: string | undefined): Promise<ChainPlaces> {
  if (after === undefined || after === '') return await ChainPlaces.open(gateway, undefined, 'refused');
  if (isPlace(after)) return await ChainPlaces.open(gateway, after, 'refused');
  const run = parseRunId(after);
  const row = run === undefined ? undefined : await getReceipt(gateway.store, run);
  if (row === undefined || row.chain === null || row.sequence === null)
    throw new AbpError('invalid_request', `"${after}" is neither a place of a stream nor a run whose receipt is sealed.`);
  const places = await ChainPlaces.open(gateway, undefined, 'refused');
  places.move(row.chain, row.sequence);
  return places;
}

/** Receipts of the caller's runs as they are sealed, from the position on. */
async function* receiptEvents(gateway: Gateway, principal: Principal, places: ChainPlaces): AsyncGenerator<string> {
  const bell = new SettleBell(gateway);
  let saidAt = performance.now();
  try {
    // The first id is where the stream begins: who loses the connection before any receipt goes on from there.
    yield `id: ${places.text}\nevent: open\ndata: {"sequence":${places.own}}\n\n`;
    while (!gateway.closing.aborted) {
      let isMore = false;
      for (const { chain, place } of await places.behind()) {
        const rows = await sealedAfter(gateway.store, chain, place, PAGE);
        isMore ||= rows.length === PAGE;
        const text = eventsOf(rows, principal, (sequence) => places.move(chain, sequence), places);
        if (text === '') continue;
        yield text;
        saidAt = performance.now();
      }
      if (isMore || (await bell.rung(places.several ? OTHERS_MS : KEEP_ALIVE_MS)) || performance.now() - saidAt < KEEP_ALIVE_MS) continue;
      yield ': waiting\n\n';
      saidAt = performance.now();
    }
  } finally {
    bell.end();
  }
}

function eventsOf(rows: readonly SealedReceipt[], principal: Principal, move: (sequence: number) => void, places: ChainPlaces): string {
  let text = '';
  for (const { sequence, keyId, status, document } of rows) {
    move(sequence);
    if (maySee(principal, keyId) && !REMOVED.has(status)) text += `id: ${places.text}\nevent: receipt\ndata: ${document}\n\n`;
  }
  return text;
}

export const receiptStreamRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/stream',
    summary:
      'Server-sent events: each receipt of the caller’s runs as it is sealed, on any node of the database. Last-Event-ID goes on after that one.',
    query: ReceiptStreamQuery,
    handle: async ({ gateway, principal, query, headers }) => {
      const last = headers['last-event-id'];
      const places = await placesAfter(gateway, query.after ?? (Array.isArray(last) ? last[0] : last));
      return new Reply(200, Readable.from(receiptEvents(gateway, principal, places)), {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
      });
    },
  }),
];
