import { expect } from 'vitest';
import type { Receipt } from '../../src/contract/receipts/receipt.ts';
import { openHome } from '../../src/home/home.ts';
import { verifyExport } from '../../src/receipts/verify/verify-bytes.ts';
import { call } from '../support/http-call.ts';

/** Every request that reached the engine has exactly one receipt, no run is open, and the chain verifies; the receipts. */
export async function expectAccounts(url: string, home: string, asked: ReadonlySet<string>): Promise<readonly Receipt[]> {
  const headers = ['authorization', `Bearer ${openHome({ path: home }).token}`];
  const text = (await call(`${url}/v1/receipts/export`, { headers })).body.toString();
  const receipts: Receipt[] = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter((line) => line.kind === undefined);
  const counts = new Map<string, number>();
  for (const { upstream_request: sent } of receipts) counts.set(sent?.sha256 ?? '', (counts.get(sent?.sha256 ?? '') ?? 0) + 1);
  expect([...asked].filter((sha256) => counts.get(sha256) !== 1)).toEqual([]);
  expect(new Set(receipts.map(({ run_id }) => run_id)).size).toBe(receipts.length);
  const running = JSON.parse((await call(`${url}/v1/receipts?status=running`, { headers })).body.toString());
  expect(running.items).toEqual([]);
  const keys = JSON.parse((await call(`${url}/v1/receipts/keys`, { headers })).body.toString()).items;
  const publicKeys = keys.map((key: { public_key: string }) => key.public_key);
  const found = await verifyExport([Buffer.from(text)], { publicKeys });
  expect(found).toMatchObject({ ok: true, first: 1, last: receipts.length, receipts: receipts.length });
  return receipts;
}
