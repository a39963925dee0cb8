import { expect, onTestFinished, test } from 'vitest';
import { AgentApi } from '../support/agent-api.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

const answer = JSON.stringify({
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'x',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
});
const busy = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
const body = { model: 'smart', max_tokens: 50, messages: [{ role: 'user', content: 'say hi' }] };

async function start(routes: object[], engine: object = {}): Promise<{ gateway: TestGateway; upstream: RecordingUpstream }> {
  const upstream = await startUpstream();
  onTestFinished(upstream.close);
  const gateway = await startGateway({
    engines: { claude: { url: upstream.url, key: 'k', ...engine } },
    config: { routes: routes as never },
  });
  onTestFinished(gateway.close);
  return { gateway, upstream };
}

/** Answers with these statuses in turn; the last one stays. */
function statuses(upstream: RecordingUpstream, ...list: number[]): void {
  upstream.answer((socket) => {
    const status = list.length > 1 ? list.shift() : list[0];
    socket.write(whole(status === 200 ? answer : busy, { status: `${status} X` }));
  });
}

test('without a route that asks for it a status is never retried', async () => {
  const { gateway, upstream } = await start([]);
  statuses(upstream, 529);
  expect((await post(`${gateway.url}/e/claude/v1/messages`, body)).status).toBe(529);
  expect(upstream.requests).toHaveLength(1);
});

test('a route may try the same engine again, and every try is a line of the receipt', async () => {
  const { gateway, upstream } = await start([{ match: 'smart', to: 'claude/real', attempts: 2 }]);
  statuses(upstream, 529, 200);
  const reply = await post(`${gateway.url}/v1/messages`, body);
  expect(reply.status).toBe(200);
  const receipt = await receiptOf(gateway.url, reply.headers['x-abp-run-id']);
  expect(receipt).toMatchObject({ status: 'completed', engine: 'claude', model: { requested: 'smart' } });
  expect(receipt.attempts).toMatchObject([
    { engine: 'claude', status: 529, error: 'the engine answered 529' },
    { engine: 'claude', status: 200, error: null },
  ]);
});

test('a fallback on another dialect serves the caller in its own, and the receipt names the engine that served', async () => {
  const { gateway, upstream } = await start([{ match: 'smart', to: 'claude/real', fallback: ['sim:gemini/backup'] }]);
  statuses(upstream, 503);
  const reply = await post(`${gateway.url}/v1/messages`, body);
  expect([reply.status, JSON.parse(String(reply.body)).content[0].text]).toEqual([200, 'hi']);
  const receipt = await receiptOf(gateway.url, reply.headers['x-abp-run-id']);
  expect(receipt).toMatchObject({ status: 'completed', engine: 'sim', mode: 'mapped', model: { requested: 'smart', upstream: 'backup' } });
  expect(receipt.attempts).toMatchObject([
    { engine: 'claude', status: 503 },
    { engine: 'sim', status: 200 },
  ]);
});

test('an error that will not pass goes to the caller at once', async () => {
  const { gateway, upstream } = await start([{ match: 'smart', to: 'claude/real', attempts: 3, fallback: ['sim/backup'] }]);
  statuses(upstream, 400);
  expect((await post(`${gateway.url}/v1/messages`, body)).status).toBe(400);
});

test('when every try fails the caller gets the last engine’s own error', async () => {
  const { gateway, upstream } = await start([{ match: 'smart', to: 'claude/real', attempts: 2 }]);
  statuses(upstream, 529);
  const reply = await post(`${gateway.url}/v1/messages`, body);
  expect([reply.status, String(reply.body)]).toEqual([529, busy]);
});

test('a breaker leaves a failing engine alone, and engines show it', async () => {
  const { gateway, upstream } = await start([], { breaker: { failures: 2, open_s: 60 } });
  for (let count = 0; count < 2; count += 1) {
    statuses(upstream, 500);
    expect((await post(`${gateway.url}/e/claude/v1/messages`, body)).status).toBe(500);
  }
  const refused = await post(`${gateway.url}/e/claude/v1/messages`, body);
  expect([refused.status, JSON.parse(String(refused.body)).error.code]).toEqual([503, 'E007']);
  expect(upstream.requests).toHaveLength(2);
});

test('a turn of an agent is served by the fallback of its route as an SDK caller is', async () => {
  const { gateway, upstream } = await start([{ match: 'smart', to: 'claude/real', fallback: ['sim/backup'] }]);
  statuses(upstream, 529);
  const api = new AgentApi(gateway);
  const agent = await api.agent({ model: 'smart' });
  const { body: session } = await api.call('POST', '/v1/sessions', { agent_id: agent });
  await api.call('POST', `/v1/sessions/${session.id}/messages`, { message: { content: 'say "hi"' } });
  const served = async (): Promise<unknown> => {
    const { body } = await api.call('GET', '/v1/receipts?plane=agent&engine=sim');
    return body.items.find(({ mode, status }: { mode: string | null; status: string }) => mode === 'mapped' && status === 'completed');
  };
  await expect.poll(served, { timeout: 60_000 }).toMatchObject({
    engine: 'sim',
    model: { requested: 'real' },
    attempts: [
      { engine: 'claude', status: 529, error: 'the engine answered 529' },
      { engine: 'sim', status: 200, error: null },
    ],
  });
  expect(upstream.requests).toHaveLength(1);
});

test('a fallback that may not be called ends the turn with the reason, and the receipt with both', async () => {
  const { gateway, upstream } = await start([{ match: 'smart', to: 'claude/real', fallback: ['gemini/m'] }]);
  statuses(upstream, 529);
  const api = new AgentApi(gateway);
  const agent = await api.agent({ model: 'smart' });
  const { body: session } = await api.call('POST', '/v1/sessions', { agent_id: agent });
  await api.call('POST', `/v1/sessions/${session.id}/messages`, { message: { content: 'hi' } });
  const failed = async (): Promise<unknown> => {
    const page = await call(`${gateway.url}/v1/sessions/${session.id}/events`, { headers: ['accept', 'application/json'] });
    return JSON.parse(String(page.body)).items.find(({ type }: { type: string }) => type === 'turn.failed')?.data.error_code;
  };
  await expect.poll(failed, { timeout: 60_000 }).toBe('E007');
});
