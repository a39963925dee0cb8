import { Readable } from 'node:stream';
import { AbpError } from '../../contract/errors.ts';
import { parseRunId } from '../../contract/run-id.ts';
import { chainOf, type StoredChain } from '../../store/receipts/chain.ts';
import { ARCHIVED, DELETED } from '../../store/receipts/receipt-columns.ts';
import { getReceipt } from '../../store/receipts/receipts.ts';
import { sealedAfter } from '../../store/receipts/sealed-after.ts';
import { ReceiptStreamQuery } from '../api/receipts.ts';
import { maySee } from '../auth/access.ts';
import type { Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import { Reply } from '../reply.ts';
import { defineRoute } from '../route.ts';
import { SettleBell } from '../rows/settle-bell.ts';

const PAGE = 100;
/** Proxies close connections that are silent for half a minute. */
const KEEP_ALIVE_MS = 15_000;
const REMOVED = new Set([ARCHIVED, DELETED]);

/** Where a caller wants to go on: after an entry of the chain, or after a run. */
async function positionOf({ store, home }: Gateway, after: string | undefined): Promise<{ chain: StoredChain; position: number }> {
  const chain = await chainOf(store, home.nodeId);
  if (after === undefined || after === '') return { chain, position: chain.sequence };
  if (/^\d{1,15}$/.test(after)) return { chain, position: placeBefore(chain, Number(after)) };
  const run = parseRunId(after);
  const row = run === undefined ? undefined : await getReceipt(store, run);
  if (row?.chain === chain.number && row.sequence !== null) return { chain, position: row.sequence };
  throw new AbpError('invalid_request', `"${after}" is neither a sequence nor a run whose receipt this node has sealed.`);
}

/** A reader who has seen more than there is would wait in silence for what it has not seen: the database is an older one, or another. */
function placeBefore({ sequence, node }: StoredChain, after: number): number {
  if (after <= sequence) return after;
  throw new AbpError('invalid_request', `The chain of ${node} ends at ${sequence}, before ${after}; begin without a position.`);
}

/** Receipts of the caller's runs as they are sealed, from the position on. */
async function* receiptEvents(gateway: Gateway, principal: Principal, chain: number, start: number): AsyncGenerator<string> {
  const bell = new SettleBell(gateway);
  let position = start;
  try {
    // The first id is where the stream begins: who loses the connection before any receipt goes on from there.
    yield `id: ${position}\nevent: open\ndata: {"sequence":${position}}\n\n`;
    while (!gateway.closing.aborted) {
      const rows = await sealedAfter(gateway.store, chain, position, PAGE);
      position = rows.at(-1)?.sequence ?? position;
      const events = rows.filter(({ keyId, status }) => maySee(principal, keyId) && !REMOVED.has(status));
      if (events.length > 0)
        yield events.map(({ sequence, document }) => `id: ${sequence}\nevent: receipt\ndata: ${document}\n\n`).join('');
      if (rows.length < PAGE && !(await bell.rung(KEEP_ALIVE_MS))) yield ': waiting\n\n';
    }
  } finally {
    bell.end();
  }
}

export const receiptStreamRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/stream',
    summary: 'Server-sent events: each receipt of the caller’s runs on this node as it is sealed. Last-Event-ID goes on after that one.',
    query: ReceiptStreamQuery,
    handle: async ({ gateway, principal, query, headers }) => {
      const last = headers['last-event-id'];
      const { chain, position } = await positionOf(gateway, query.after ?? (Array.isArray(last) ? last[0] : last));
      return new Reply(200, Readable.from(receiptEvents(gateway, principal, chain.number, position)), {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
      });
    },
  }),
];
