import { expect, it, onTestFinished } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';

const ask = (content: string) => ({ model: 'claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user', content }] });

it('writes a line for every request, with what its call came to, and no secret', async () => {
  const server = await startGateway({ logsRequests: true });
  onTestFinished(server.close);
  const lines = () =>
    server
      .logs()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'request' || msg === 'call');
  const secret = `abp_${'s'.repeat(43)}`;
  await post(`${server.url}/e/sim/v1/messages`, ask('hello'), ['x-abp-tags', 'nightly']);
  await post(`${server.url}/e/sim/v1/messages`, ask('fail with 500'));
  await call(`${server.url}/k/${secret}/e/sim/v1/messages?key=${secret}`, { method: 'POST', body: '{}' });
  await call(`${server.url}/v1/receipts?limit=1`);
  await call(`${server.url}/nowhere`);
  await call(`${server.url}/healthz`);
  await expect.poll(() => lines().length).toBe(5);
  const [first, failed, refused, control, missing] = lines().toSorted((a, b) => a.run_id.localeCompare(b.run_id));
  expect(first).toMatchObject({
    level: 30,
    msg: 'request',
    surface: 'vendor',
    method: 'POST',
    path: '/e/sim/v1/messages',
    status: 200,
    caller: 'local',
    plane: 'gateway',
    outcome: 'completed',
    backend: 'engine:sim',
    dialect: 'claude',
    mode: 'passthrough',
    model: 'claude-sonnet-4-5',
    tags: ['nightly'],
    run_id: expect.stringMatching(/^run_[0-9a-f]{32}$/),
    ms: expect.any(Number),
    first_byte_ms: expect.any(Number),
    input_tokens: expect.any(Number),
    output_tokens: expect.any(Number),
  });
  expect(failed).toMatchObject({ status: 500, outcome: 'failed' });
  expect(refused).toMatchObject({ surface: 'refused', status: 401, path: '/k/…/e/sim/v1/messages', caller: null });
  expect(control).toMatchObject({ surface: 'control', status: 200, path: '/v1/receipts' });
  expect(missing).toMatchObject({ surface: 'control', status: 404, path: '/nowhere' });
  expect(server.logs()).not.toContain(secret);
});

it('writes none for a server that was not asked to', async () => {
  const server = await startGateway();
  onTestFinished(server.close);
  await post(`${server.url}/e/sim/v1/messages`, ask('hello'));
  await server.gateway.keeper.settled();
  server.gateway.telemetry.requests.close();
  expect(server.logs()).not.toContain('"msg":"request"');
});
