import { expect, it, onTestFinished } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { freshDatabase } from '../support/postgres.ts';
import { receiptOf } from '../support/receipt-of.ts';

it('records, replays and erases with PostgreSQL as the home database', async () => {
  const server = await startGateway({ databaseUrl: await freshDatabase() });
  onTestFinished(() => server.close());
  const request = JSON.stringify({ model: 'sim-1', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'say "postgres"' }] });
  const run = await post(`${server.url}/e/sim/v1/messages`, request);
  expect(await receiptOf(server.url, run.headers['x-abp-run-id'])).toMatchObject({ replayable: true });
  const again = await post(`${server.url}/e/replay/v1/messages`, request);
  expect(again.body.equals(run.body)).toBe(true);
  const erased = await call(`${server.url}/v1/recordings?engine=sim`, { method: 'DELETE' });
  expect(JSON.parse(erased.body.toString())).toEqual({ erased: 1, elsewhere: 0 });
  expect((await post(`${server.url}/e/replay/v1/messages`, request)).status).toBe(404);
  expect(server.faults()).toBe('');
});
