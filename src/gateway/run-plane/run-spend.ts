import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../base/json.ts';
import type { ReceiptUsage } from '../../contract/receipts/parts.ts';
import type { RunId } from '../../contract/run-id.ts';
import { asTheyEnded } from '../../receipts/usage/late-usage.ts';
import { NOTHING_SPENT, type RunSpend } from '../../runtime/gateway-port.ts';
import { findRunKey } from '../../store/keys.ts';
import { listReceipts } from '../../store/receipts/receipts.ts';
import type { Gateway } from '../gateway.ts';
import { CallFates } from './call-fates.ts';

/** How long the last calls of a run may take to become receipts. */
const SETTLE_MS = 3000;
const LOOK_MS = 20;

/**
 * The bill of the calls made with the key of a run, and the fate of their fields. Calls that have ended but are no receipts yet
 * are waited for, briefly.
 */
export async function spentOf(gateway: Gateway, run: RunId, state: 'running' | 'ended'): Promise<RunSpend> {
  const key = await findRunKey(gateway.store, run);
  if (key === undefined) return NOTHING_SPENT;
  const deadline = performance.now() + SETTLE_MS;
  while (state === 'ended' && (await hasOpenCalls(gateway, key.id)) && performance.now() < deadline) await sleep(LOOK_MS);
  let total = NOTHING_SPENT;
  let cursor: string | undefined;
  const fates = new CallFates();
  do {
    const page = await listReceipts(gateway.store, {
      key: key.id,
      plane: 'gateway',
      limit: 500,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { document } of await asTheyEnded(gateway.store, page.items)) {
      total = added(total, document);
      fates.add(document);
    }
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return { ...total, fates: fates.sum() };
}

/** Memory first: a call that ends meanwhile has then at least its unfinished row. */
async function hasOpenCalls({ calls: { live }, store }: Gateway, keyId: string): Promise<boolean> {
  if (live.hasCallsOf(keyId)) return true;
  const page = await listReceipts(store, { key: keyId, unfinished: true, limit: 1 });
  return page.items.length > 0;
}

const COUNTS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'thinking_tokens',
  'web_search_requests',
] as const satisfies readonly (keyof ReceiptUsage)[];

function added(total: RunSpend, receipt: JsonObject): RunSpend {
  const usage = objectOf(receipt.usage);
  const cost = objectOf(receipt.cost);
  const counts = COUNTS.map((name) => [name, total.usage[name] + numberOf(usage[name])] as const);
  return {
    ...total,
    calls: total.calls + 1,
    usage: { ...total.usage, ...Object.fromEntries(counts), estimated: total.usage.estimated || usage.estimated === true },
    nanoUsd: typeof cost.nano_usd === 'number' ? (total.nanoUsd ?? 0) + cost.nano_usd : total.nanoUsd,
    priceVersion: typeof cost.price_version === 'string' ? cost.price_version : total.priceVersion,
  };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
