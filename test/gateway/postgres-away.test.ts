import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

let postgres: TestPostgres;
let server: TestGateway;
const BODY = { model: 'sim-1', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };

beforeAll(async () => {
  postgres = await startPostgres({ durable: true });
  server = await startGateway({ databaseUrl: await postgres.freshDatabase(), config: { auth: { local: false } } });
});
afterAll(async () => {
  await server?.close();
  await postgres?.stop();
});

async function newKey(): Promise<string> {
  const answer = await post(`${server.url}/v1/keys`, { name: 'k', scopes: {} }, ['x-abp-key', server.token]);
  return JSON.parse(answer.body.toString()).secret;
}

const ask = (key: string, path = '/e/sim/v1/messages'): ReturnType<typeof post> => post(`${server.url}${path}`, BODY, ['x-abp-key', key]);

it('lets keys that were seen before go on while the database is away, asks others to come back, and forgets nothing afterwards', async () => {
  const [seen, unseen] = [await newKey(), await newKey()];
  expect((await ask(seen)).status).toBe(200);
  await postgres.pause();
  // Beyond the moment that a key is remembered in any case.
  await new Promise((resolve) => setTimeout(resolve, 5200));
  expect((await ask(seen)).status).toBe(200);
  const refused = await ask(unseen);
  expect([refused.status, refused.headers['x-should-retry'], JSON.parse(refused.body.toString())]).toMatchObject([
    503,
    'true',
    { type: 'error', error: { code: 'overloaded', retryable: true } },
  ]);
  const chat = await ask(unseen, '/e/sim/v1/chat/completions');
  expect(chat.status).toBe(503);
  await postgres.resume();
  await expect.poll(async () => (await ask(unseen)).status).toBe(200);
});
