import { afterAll, beforeAll, expect, it } from 'vitest';
import { newRunId, type RunId } from '../../src/contract/run-id.ts';
import { closeFact, openFact } from '../support/facts.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';

let server: TestGateway;
let key: { id: string; secret: string };
const runs: RunId[] = [];
const keyed: RunId[] = [];

/** Receipts without a key are one in ten. */
beforeAll(async () => {
  server = await startGateway();
  key = JSON.parse((await post(`${server.url}/v1/keys`, '{"name":"one"}', ['x-abp-key', server.token])).body.toString());
  for (let at = 0; at < 100; at += 1) {
    const run = newRunId();
    const keyId = at % 10 === 0 ? null : key.id;
    server.gateway.keeper.append(openFact({ run, at: 1_800_000_000_000 + at, keyId }));
    server.gateway.keeper.append(closeFact({ run, at: 1_800_000_000_500 + at }));
    (keyId === null ? runs : keyed).unshift(run);
  }
  await server.gateway.keeper.settled();
});
afterAll(() => server.close());

/** The runs of each page. */
async function pages(path: string, headers: readonly string[] = []): Promise<RunId[][]> {
  const all: RunId[][] = [];
  for (let rest = ''; ; ) {
    const { items, next_cursor } = JSON.parse((await call(`${server.url}${path}${rest}`, { headers })).body.toString());
    all.push(items.map((item: { run_id: RunId }) => item.run_id));
    if (next_cursor === undefined) return all;
    rest = `&cursor=${next_cursor}`;
  }
}

it.each(['/v1/receipts?limit=4', '/v1/runs?limit=4'])('pages of the local caller are full: %s', async (path) => {
  expect(await pages(path)).toEqual([runs.slice(0, 4), runs.slice(4, 8), runs.slice(8)]);
});

it('pages of a key are full', async () => {
  const found = await pages('/v1/receipts?limit=40', ['x-abp-key', key.secret]);
  expect(found).toEqual([keyed.slice(0, 40), keyed.slice(40, 80), keyed.slice(80)]);
});

it('the local caller finds nothing of a key', async () => {
  expect(await pages(`/v1/receipts?key=${key.id}`)).toEqual([[]]);
});

it('runs whose receipts were archived leave no gaps in pages of runs', async () => {
  await server.gateway.keeper.remove({ status: 'archived', reason: 'test', endedBefore: 1_800_000_000_551 });
  expect(await pages('/v1/runs?limit=2')).toEqual([runs.slice(0, 2), runs.slice(2, 4)]);
});
