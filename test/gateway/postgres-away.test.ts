import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { routes } from '../../src/gateway/routes/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, send } from '../support/http-call.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { startServe } from '../support/serve.ts';

let postgres: TestPostgres;
let server: TestGateway;
const BODY = { model: 'sim-1', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };

beforeAll(async () => {
  postgres = await startPostgres({ durable: true });
  server = await startGateway({ databaseUrl: await postgres.readyDatabase(), config: { auth: { local: false } } });
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
  // A balancer that asked whether all of it serves would take out every node at once, and no call would go on.
  const ready = await Promise.all(['/readyz', '/readyz?of=calls'].map((path) => call(`${server.url}${path}`)));
  expect(ready.map(({ status }) => status)).toEqual([503, 200]);
  for (const { body } of ready) expect(JSON.parse(body.toString())).toMatchObject({ status: 'degraded', database: 'unreachable' });
  const refused = await ask(unseen);
  expect([refused.status, refused.headers['x-should-retry'], JSON.parse(refused.body.toString())]).toMatchObject([
    503,
    'true',
    { type: 'error', error: { code: 'overloaded', retryable: true } },
  ]);
  for (const path of ['/v1/chat/completions', '/v1/responses', '/v1beta/models/sim-1:generateContent', '/v1/files'])
    expect((await ask(unseen, `/e/sim${path}`)).status, path).toBe(503);
  await walk();
  await postgres.resume();
  await expect.poll(async () => (await ask(unseen)).status).toBe(200);
});

/** No route says that something is wrong inside of us when only the database is away. */
async function walk(): Promise<void> {
  const headers = ['x-abp-key', server.token, 'content-type', 'application/json'];
  const answers = await Promise.all(
    routes.map(async ({ method, path }) => {
      const at = path.replaceAll(/\{\w*run_id\}/g, `run_${'0'.repeat(32)}`).replaceAll(/\{\w+\}/g, 'none');
      // Some only say that they are waiting; what they answer then is not looked at.
      const signal = AbortSignal.timeout(8000);
      const body = method === 'GET' ? {} : { body: '{}' };
      const answer = await Promise.race([
        call(`${server.url}${at}`, { method, headers, ...body }),
        new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true })),
      ]);
      return [`${method} ${path}`, answer?.status ?? 0, answer?.headers['x-should-retry']] as const;
    }),
  );
  expect(answers.filter(([, status]) => status >= 500 && status !== 503)).toEqual([]);
  expect(answers.filter(([, status, retry]) => status === 503 && retry !== 'true').map(([name]) => name)).toEqual(['GET /readyz']);
  expect(answers.filter(([, status]) => status === 503).length).toBeGreaterThan(10);
}

it('ends when it is told to while the database is away: the stream that goes on is whole, and its receipt is there after the next start', {
  timeout: 120_000,
}, async () => {
  const home = join(mkdtempSync(join(tmpdir(), 'abp-away-')), 'home');
  onTestFinished(() => rmSync(dirname(home), { recursive: true, force: true }));
  const env = { ABP_DATABASE_URL: await postgres.readyDatabase(), ABP_LOG: 'fatal' };
  const first = await startServe(home, env);
  const body = { ...BODY, stream: true, messages: [{ role: 'user', content: 'write slowly, then wait 1000 ms' }] };
  const stream = await send(`${first.url}/e/sim/v1/messages`, {
    method: 'POST',
    headers: ['content-type', 'application/json'],
    body: JSON.stringify(body),
  });
  await postgres.pause();
  const ended = first.end('SIGTERM');
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  expect(String(Buffer.concat(chunks))).toContain('event: message_stop');
  expect(await ended).toBe(0);
  await postgres.resume();
  const again = await startServe(home, env);
  const headers = ['x-abp-key', readFileSync(join(home, 'token'), 'utf8').trim()];
  const receipt = await call(`${again.url}/v1/receipts/${stream.headers['x-abp-run-id']}?wait=10`, { headers });
  expect(JSON.parse(String(receipt.body))).toMatchObject({ status: 'completed' });
  expect(await again.end('SIGTERM')).toBe(0);
});
