import { expect, onTestFinished, test } from 'vitest';
import { AgentApi } from '../support/agent-api.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
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

test('where no fallback may be called, a turn fails with the error of the engine that answered', async () => {
  const { gateway, upstream } = await start([{ match: 'smart', to: 'claude/real', fallback: ['gemini/m'] }]);
  statuses(upstream, 529);
  const api = new AgentApi(gateway);
  const agent = await api.agent({ model: 'smart' });
  const { body: session } = await api.call('POST', '/v1/sessions', { agent_id: agent });
  await api.call('POST', `/v1/sessions/${session.id}/messages`, { message: { content: 'hi' } });
  const failed = async (): Promise<unknown> => {
    const { body } = await api.call('GET', '/v1/receipts?plane=agent&engine=claude');
    return body.items.find(({ mode }: { mode: string | null }) => mode === 'mapped')?.attempts;
  };
  await expect.poll(failed, { timeout: 60_000 }).toMatchObject([
    { engine: 'claude', status: 529 },
    { engine: 'gemini', status: null, error: expect.stringMatching(/^not called: E007: .*GEMINI_API_KEY/) },
  ]);
});

const hint = ['content-type: application/json', 'retry-after: 7', 'request-id: req_vendor'];

/** Routes of a caller whose fallback is refused, by what refuses it. */
const REFUSED_FALLBACKS = [
  { name: 'has no key', fallback: 'gemini/m', code: 'E007' },
  { name: 'has no form for a field', fallback: 'sim:claude/m', code: 'E001', more: { logprobs: true } },
  { name: 'is denied by policy', fallback: 'sim/denied-model', code: 'E005' },
];

test.each(REFUSED_FALLBACKS)('where the fallback $name, the caller gets the first engine’s own error with its hints', async (row) => {
  const upstream = await startUpstream();
  onTestFinished(upstream.close);
  const gateway = await startGateway({
    engines: { openai: { url: upstream.url, key: 'k' } },
    config: { routes: [{ match: 'smart', to: 'openai/real', fallback: [row.fallback] }], policy: { deny_models: ['denied-*'] } },
  });
  onTestFinished(gateway.close);
  const error = JSON.stringify({ error: { message: 'slow down', type: 'requests', code: 'rate_limit_exceeded', param: null } });
  upstream.answer((socket) => void socket.write(whole(error, { status: '429 Too Many Requests', headers: hint })));
  const asked = { model: 'smart', messages: [{ role: 'user', content: 'say hi' }], ...row.more };
  for (const stream of [false, true]) {
    const reply = await post(`${gateway.url}/v1/chat/completions`, { ...asked, stream });
    expect([reply.status, String(reply.body)]).toEqual([429, error]);
    expect(reply.headers).toMatchObject({
      'retry-after': '7',
      'request-id': 'req_vendor',
      'x-abp-engine': 'openai',
      'x-abp-attempts': '1',
    });
    const receipt = await receiptOf(gateway.url, reply.headers['x-abp-run-id']);
    expect(receipt).toMatchObject({ status: 'failed', reason: 'engine_error', engine: 'openai' });
    expect(receipt.attempts).toMatchObject([
      { engine: 'openai', status: 429 },
      { engine: row.fallback.split(/[:/]/)[0], status: null, error: expect.stringContaining(`not called: ${row.code}`) },
    ]);
  }
});

test('a fallback outside of the key’s scopes is not called, and an unreachable first engine is the error', async () => {
  const gateway = await startGateway({
    engines: { claude: { url: 'http://127.0.0.1:1', key: 'k' } },
    config: { routes: [{ match: 'smart', to: 'claude/real', fallback: ['gemini/m', 'sim/backup'] }] },
  });
  onTestFinished(gateway.close);
  const api = new AgentApi(gateway);
  const { body: key } = await api.withToken().call('POST', '/v1/keys', { name: 'narrow', scopes: { engines: ['claude'] } });
  const reply = await post(`${gateway.url}/v1/messages`, body, ['x-abp-key', key.secret]);
  expect([reply.status, JSON.parse(String(reply.body)).error.code]).toEqual([503, 'E007']);
  expect(JSON.parse(String(reply.body)).error.message).toContain('cannot be reached');
  expect(reply.headers).toMatchObject({ 'x-abp-engine': 'claude', 'x-abp-attempts': '1', 'x-should-retry': 'true' });
  const wide = await post(`${gateway.url}/v1/messages`, body);
  expect(wide.status).toBe(200);
  expect(wide.headers).toMatchObject({ 'x-abp-engine': 'sim', 'x-abp-attempts': '2' });
  const receipt = await receiptOf(gateway.url, wide.headers['x-abp-run-id']);
  expect(receipt.attempts.map(({ engine }: { engine: string }) => engine)).toEqual(['claude', 'gemini', 'sim']);
});

test('a large request whose fallback cannot be translated gets the first engine’s error, too', async () => {
  const { gateway, upstream } = await start([{ match: 'smart', to: 'claude/real', fallback: ['sim:gemini/m', 'gemini/m'] }]);
  const paused = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'x'.repeat(300_000) } });
  upstream.answer((socket) => void socket.write(whole(paused, { status: '529 X', headers: hint })));
  const large = {
    ...body,
    messages: [{ role: 'user', content: `say hi ${'word '.repeat(150_000)}` }],
    made_up_field: 1,
  };
  const reply = await post(`${gateway.url}/v1/messages`, large);
  expect([reply.status, reply.headers['retry-after'], String(reply.body) === paused]).toEqual([529, '7', true]);
  const receipt = await receiptOf(gateway.url, reply.headers['x-abp-run-id']);
  expect(receipt.attempts).toMatchObject([
    { engine: 'claude', status: 529 },
    { engine: 'sim', error: expect.stringContaining('E001') },
    { engine: 'gemini', error: expect.stringContaining('not called') },
  ]);
});

test('every answer names the engine that gave it, streamed and whole, relayed and translated', async () => {
  const { gateway } = await start([]);
  for (const engine of ['sim', 'sim:gemini'])
    for (const stream of [false, true]) {
      const reply = await post(`${gateway.url}/e/${engine}/v1/messages`, { ...body, stream });
      expect(reply.headers).toMatchObject({ 'x-abp-engine': 'sim', 'x-abp-attempts': '1' });
    }
});

const JSON_FALLBACKS = ['sim/backup', 'sim:claude/backup', 'sim:gemini/backup', 'sim:openai-responses/backup'];

test(`JSON mode is JSON from each of the fallbacks ${JSON_FALLBACKS.join(', ')}`, async () => {
  const gateway = await startGateway({
    engines: { openai: { url: 'http://127.0.0.1:1', key: 'k' } },
    config: { routes: JSON_FALLBACKS.map((fallback, at) => ({ match: `smart-${at}`, to: 'openai/real', fallback: [fallback] })) },
  });
  onTestFinished(gateway.close);
  for (const at of JSON_FALLBACKS.keys()) {
    const asked = {
      model: `smart-${at}`,
      messages: [{ role: 'user', content: 'Give me the capital of France as JSON.' }],
      response_format: { type: 'json_object' },
    };
    const reply = await post(`${gateway.url}/v1/chat/completions`, asked);
    expect(typeof JSON.parse(JSON.parse(String(reply.body)).choices[0].message.content)).toBe('object');
    const streamed = await post(`${gateway.url}/v1/chat/completions`, { ...asked, stream: true });
    const lines = String(streamed.body)
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)).choices[0]?.delta.content ?? '');
    expect(typeof JSON.parse(lines.join(''))).toBe('object');
  }
});

test('a route that is written for names with an engine in front counts for these before the prefix does', async () => {
  const { gateway, upstream } = await start([
    { match: 'openai/gpt-4o', to: 'claude/real' },
    { match: 'anthropic/*', to: 'claude', attempts: 2 },
    { match: '*', to: 'sim/any' },
  ]);
  const served = async (model: string) => (await post(`${gateway.url}/v1/messages`, { ...body, model })).headers['x-abp-engine'];
  statuses(upstream, 529, 200);
  // The second try shows that the row decided; the engine gets the model's own name.
  expect([await served('anthropic/claude-x'), await served('openai/gpt-4o')]).toEqual(['claude', 'claude']);
  expect(upstream.requests.map(({ body: sent }) => JSON.parse(String(sent)).model)).toEqual(['claude-x', 'claude-x', 'real']);
  // A row for all names is about none in particular: the prefix counts before it.
  expect([await served('claude/claude-x'), await served('some-model')]).toEqual(['claude', 'sim']);
});
