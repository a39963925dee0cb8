import http from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Call } from '../../src/calls/call.ts';
import { AgentApi } from '../support/agent-api.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, type WireAnswer } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { startUpstream, whole } from '../support/recording-upstream.ts';
import { claudeAnswer, claudeStream } from './claude-answers.ts';

const [answer, STREAM] = [JSON.stringify(claudeAnswer), claudeStream];

const body = { model: 'claude-opus-5', max_tokens: 50, messages: [{ role: 'user', content: 'say hi' }] };

/** An engine that takes one call at a time and answers when it is told to. */
async function start(limits: object): Promise<{ gateway: TestGateway; held: (() => void)[]; asked: string[] }> {
  const upstream = await startUpstream();
  onTestFinished(upstream.close);
  const held: (() => void)[] = [];
  upstream.answer((socket, request) => {
    const streamed = request.body.includes('"stream":true');
    held.push(() => void socket.write(streamed ? whole(STREAM, { headers: ['content-type: text/event-stream'] }) : whole(answer)));
  });
  const asked: string[] = [];
  const seen = {
    name: 'seen',
    check: (one: Call) => {
      asked.push(one.way);
      return undefined;
    },
  };
  const gateway = await startGateway({
    checks: [seen],
    engines: { claude: { url: upstream.url, key: 'k', limits: { concurrency: 1 } } },
    config: { limits: limits as never },
  });
  onTestFinished(gateway.close);
  return { gateway, held, asked };
}

const WAYS: Readonly<Record<string, (gateway: TestGateway) => Promise<WireAnswer>>> = {
  relay: ({ url }) => post(`${url}/v1/messages`, body),
  mapped: ({ url }) => post(`${url}/v1/chat/completions`, { model: 'claude/claude-opus-5', messages: body.messages }),
  raw: ({ url }) => call(`${url}/e/claude/v1/files`),
};

describe.each(Object.entries(WAYS))('a call over a limit on the way %s', (_way, ask) => {
  test('waits for room and is then served', async () => {
    const { gateway, held } = await start({ wait_s: 60 });
    const first = post(`${gateway.url}/v1/messages`, body);
    await expect.poll(() => held.length).toBe(1);
    const second = ask(gateway);
    held[0]?.();
    expect((await first).status).toBe(200);
    await expect.poll(() => held.length).toBe(2);
    held[1]?.();
    const reply = await second;
    expect(reply.status).toBe(200);
    expect((await receiptOf(gateway.url, reply.headers['x-abp-run-id'])).status).toBe('completed');
  });

  test('is 429 with the time to come back once it has waited', async () => {
    const { gateway, held } = await start({ wait_s: 0.05 });
    const first = post(`${gateway.url}/v1/messages`, body);
    await expect.poll(() => held.length).toBe(1);
    const reply = await ask(gateway);
    expect([reply.status, reply.headers['retry-after']]).toEqual([429, '1']);
    const receipt = await receiptOf(gateway.url, reply.headers['x-abp-run-id']);
    expect([receipt.status, receipt.error?.code, receipt.attempts]).toEqual(['failed', 'rate_limited', []]);
    held[0]?.();
    await first;
  });
});

test('a turn of an agent waits, too', async () => {
  const { gateway, held } = await start({ wait_s: 60 });
  const first = post(`${gateway.url}/v1/messages`, body);
  await expect.poll(() => held.length).toBe(1);
  const api = new AgentApi(gateway);
  const agent = await api.agent({ model: 'claude/claude-opus-5' });
  const { body: session } = await api.call('POST', '/v1/sessions', { agent_id: agent });
  await api.call('POST', `/v1/sessions/${session.id}/messages`, { message: { content: 'hi' } });
  held[0]?.();
  expect((await first).status).toBe(200);
  await expect.poll(() => held.length).toBe(2);
  held[1]?.();
  await expect.poll(async () => (await api.call('GET', `/v1/sessions/${session.id}`)).body.status).toBe('idle');
});

test('a caller who leaves loses its place, and the next one gets it', async () => {
  const { gateway, held, asked } = await start({ wait_s: 60 });
  const first = post(`${gateway.url}/v1/messages`, body);
  await expect.poll(() => held.length).toBe(1);
  const leaving = http.request(`${gateway.url}/v1/messages`, { method: 'POST', headers: { 'content-type': 'application/json' } });
  leaving.on('error', () => undefined);
  leaving.end(JSON.stringify(body));
  const refused = async (): Promise<unknown[]> => {
    const { items } = JSON.parse(String((await call(`${gateway.url}/v1/receipts`)).body));
    return items.filter(({ error }: { error: { code: string } | null }) => error?.code === 'rate_limited');
  };
  await expect.poll(() => asked.length).toBe(2);
  leaving.destroy();
  await expect.poll(refused).toHaveLength(1);
  const second = post(`${gateway.url}/v1/messages`, body);
  held[0]?.();
  await first;
  await expect.poll(() => held.length).toBe(2);
  held[1]?.();
  expect((await second).status).toBe(200);
});
