import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkSeal, checkTail, type Proof, type SealReport, type SeenHead } from '../../console/src/base/seal/check.ts';
import { isUnsealed } from '../../console/src/base/seal/unsealed.ts';
import { FORGERIES } from '../receipts/forgeries.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

// A browser was here before: it keeps the last head that it has seen. Then somebody writes to the database, and the browser comes back.

/** Copies of facts for lists and permissions. Pages of runs show the sealed document, so that nothing on them is changed by these. */
const ONLY_COLUMNS = ['a column that permissions use is changed', 'a column that lists use is changed'];

const parent = mkdtempSync(join(tmpdir(), 'abp-forged-seals-'));
const genuine = join(parent, 'genuine');
const runs: string[] = [];
let kept: SeenHead;
afterAll(() => rmSync(parent, { recursive: true, force: true }));

beforeAll(async () => {
  const server = await startGateway({ home: genuine });
  for (const text of ['one', 'two', 'three', 'four']) {
    const body = { model: 'sim-1', max_tokens: 50, messages: [{ role: 'user', content: `say "${text}"` }] };
    const { headers } = await post(`${server.url}/e/sim/v1/messages`, JSON.stringify(body));
    runs.push(String(headers['x-abp-run-id']));
    await receiptOf(server.url, headers['x-abp-run-id']);
  }
  const found = await Promise.all(runs.map((run) => looked(server, run)));
  expect(found.map((report) => report?.verdict)).toEqual(['valid', 'valid', 'valid', 'valid']);
  kept = found.at(-1)?.head ?? expect.fail('no head');
  await server.close();
});

async function read<T>(server: TestGateway, path: string): Promise<T | undefined> {
  const { status, body } = await call(`${server.url}${path}`, { headers: ['authorization', `Bearer ${server.token}`] });
  return status === 200 ? (JSON.parse(String(body)) as T) : undefined;
}

/** The check of the page of a run, as the browser makes it; undefined where the page says that there is no such receipt. */
async function looked(server: TestGateway, run: string): Promise<SealReport | undefined> {
  const receipt = await read<{ run_id: string }>(server, `/v1/receipts/${run}`);
  if (receipt === undefined) return undefined;
  const proof = await read<Proof & { before: string | null }>(server, `/v1/receipts/${receipt.run_id}/proof`);
  if (proof === undefined) return undefined;
  const { before, lines, keys } = proof;
  return await checkSeal(receipt.run_id, receipt, { lines: before === null ? lines : [before, ...lines], keys });
}

it.each(FORGERIES.filter(([name]) => !ONLY_COLUMNS.includes(name)))('a browser that was here before sees that %s', async (_, forge) => {
  const home = mkdtempSync(join(parent, 'copy-'));
  cpSync(genuine, home, { recursive: true });
  const db = new DatabaseSync(join(home, 'abp.db'));
  forge(db);
  db.close();
  const server = await startGateway({ home });
  const found = await Promise.all(runs.map((run) => looked(server, run)));
  const putIn = await read<{ completed_at: string | null }>(server, `/v1/receipts/run_${'f'.repeat(32)}`);
  const newest = await read<object>(server, '/v1/receipts/head');
  const atKept = await read<object>(server, `/v1/receipts/head?at=${kept.sequence}`);
  const keys = (await read<{ items: Proof['keys'] }>(server, '/v1/receipts/keys'))?.items ?? [];
  const tail = newest === undefined ? { code: 'no_head' } : await checkTail({ newest, atKept }, keys, kept);
  await server.close();
  // Of a receipt that has no seal the page says so itself.
  const put = putIn === undefined || !isUnsealed(putIn, Date.now() + 3_600_000) ? null : 'unsealed';
  const faults = [put, ...found.map((report) => (report === undefined ? 'gone' : report.code)), tail.code].filter((code) => code !== null);
  expect(faults).not.toEqual([]);
});
