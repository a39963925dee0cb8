import { expect, onTestFinished, test } from 'vitest';
import { runPort } from '../../src/gateway/run-plane/run-port.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

const answer = (model: string): string =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: `I am ${model}` }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
  });

async function upstream(model: string): Promise<RecordingUpstream> {
  const one = await startUpstream();
  onTestFinished(one.close);
  one.answer((socket) => void socket.write(whole(answer(model))));
  return one;
}

async function start(engines: Record<string, object>, more: object = {}): Promise<TestGateway> {
  const gateway = await startGateway({ config: { engines, ...more } });
  onTestFinished(gateway.close);
  return gateway;
}

const chat = (model: string, content = 'hi'): object => ({ model, messages: [{ role: 'user', content }] });
const claude = (model: string, content = 'hi'): object => ({ model, max_tokens: 10, messages: [{ role: 'user', content }] });
const lineOf = (one: RecordingUpstream): string => one.requests.at(-1)?.line ?? '';
const headerOf = (one: RecordingUpstream, name: string): string[] =>
  one.requests
    .at(-1)
    ?.headers.filter(([key]) => key.toLowerCase() === name)
    .map(([, value]) => value) ?? [];

test('two servers of the same kind are two engines, each with its address, key, headers and price', async () => {
  const [small, big] = [await upstream('small'), await upstream('big')];
  const gateway = await start({
    small: { base: 'vllm', url: small.url, price: { input: 1, output: 2 } },
    big: {
      base: 'openai-compatible',
      url: `${big.url}/v1/`,
      key: 'secret-of-big',
      headers: { 'X-Team': 'blue', 'user-agent': 'ours' },
      models: [{ id: 'llama-*', price: { input: 10, output: 100, cache_read: 0 } }, 'phi'],
    },
  });
  const first = await post(`${gateway.url}/e/small/v1/chat/completions`, chat('llama'), ['user-agent', 'theirs']);
  expect([first.status, String(first.body)]).toEqual([200, answer('small')]);
  expect(first.headers['x-abp-engine']).toBe('small');
  expect([lineOf(small), headerOf(small, 'authorization'), headerOf(small, 'user-agent')]).toEqual([
    'POST /v1/chat/completions HTTP/1.1',
    [],
    ['theirs'],
  ]);
  const receipt = await receiptOf(gateway.url, first.headers['x-abp-run-id']);
  expect(receipt).toMatchObject({ engine: 'small', cost: { nano_usd: 1000 * 1000 + 100 * 2000, price_version: 'configuration' } });

  const second = await post(`${gateway.url}/v1/messages`, claude('big/llama-3'), ['user-agent', 'theirs']);
  expect(JSON.parse(String(second.body)).content[0].text).toBe('I am big');
  expect([lineOf(big), headerOf(big, 'authorization'), headerOf(big, 'x-team'), headerOf(big, 'user-agent')]).toEqual([
    'POST /v1/chat/completions HTTP/1.1',
    ['Bearer secret-of-big'],
    ['blue'],
    ['ours'],
  ]);
  const mapped = await receiptOf(gateway.url, second.headers['x-abp-run-id']);
  expect(mapped).toMatchObject({ engine: 'big', mode: 'mapped', cost: { nano_usd: 1000 * 10_000 + 100 * 100_000 } });
});

test('a price of a model counts before that of its engine, by the name that the engine was asked for', async () => {
  const one = await upstream('llama-3');
  const gateway = await start({
    gpu: { base: 'vllm', url: one.url, price: { input: 1, output: 1 }, models: [{ id: 'llama-*', price: { input: 10, output: 100 } }] },
  });
  const reply = await post(`${gateway.url}/v1/chat/completions`, chat('gpu/llama-3'));
  const receipt = await receiptOf(gateway.url, reply.headers['x-abp-run-id']);
  expect(receipt.cost?.nano_usd).toBe(1000 * 10_000 + 100 * 100_000);
});

test.each(['', '/', '/v1', '/v1/', '/v1/chat/completions'])('an address that ends in "%s" reaches the same path', async (end) => {
  const one = await upstream('m');
  const gateway = await start({ gpu: { base: 'openai-compatible', url: `${one.url}/proxy${end}` }, ollama: { url: `${one.url}/v1` } });
  expect((await post(`${gateway.url}/e/gpu/v1/chat/completions`, chat('m'))).status).toBe(200);
  expect(lineOf(one)).toBe('POST /proxy/v1/chat/completions HTTP/1.1');
  await post(`${gateway.url}/e/ollama/v1/chat/completions`, chat('m'));
  expect(lineOf(one)).toBe('POST /v1/chat/completions HTTP/1.1');
});

test('a second account of a vendor has its own key, and never the vendor’s variable or the caller’s key', async () => {
  const one = await upstream('m');
  const gateway = await start({
    openai: { url: one.url, key: 'first' },
    second: { base: 'openai', url: one.url, key: 'second' },
    third: { base: 'openai', url: one.url },
  });
  for (const [engine, key] of [
    ['openai', 'first'],
    ['second', 'second'],
  ] as const) {
    await post(`${gateway.url}/e/${engine}/v1/chat/completions`, chat('gpt-5'));
    expect(headerOf(one, 'authorization')).toEqual([`Bearer ${key}`]);
  }
  const asked = one.requests.length;
  const refused = await post(`${gateway.url}/e/third/v1/chat/completions`, chat('gpt-5'), ['authorization', 'Bearer sk-callers-own']);
  expect([refused.status, JSON.parse(String(refused.body)).error.message]).toEqual([503, 'third has no key: set ABP_ENGINE_THIRD_KEY']);
  expect(one.requests).toHaveLength(asked);
});

test('routes, fallbacks, lists and large bodies know an engine of your own', async () => {
  const one = await upstream('m');
  const gateway = await start(
    { gpu: { base: 'openai-compatible', url: one.url, models: ['llama', 'phi-*'] } },
    {
      routes: [
        { match: 'claude-*', to: 'claude/x', fallback: ['gpu/llama'] },
        { match: 'cheap', to: 'gpu/llama' },
      ],
    },
  );
  const large = await post(`${gateway.url}/v1/messages`, claude('cheap', 'word '.repeat(150_000)));
  expect([large.status, large.headers['x-abp-engine']]).toEqual([200, 'gpu']);
  const list = JSON.parse(String((await call(`${gateway.url}/v1/models`)).body));
  expect(list.data.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(['cheap', 'gpu/llama']));
  const listed = JSON.parse(String((await call(`${gateway.url}/v1/engines`)).body));
  expect(listed.items.find(({ id }: { id: string }) => id === 'gpu')).toMatchObject({ base: 'openai-compatible', url: one.url });
  expect((await call(`${gateway.url}/v1/backends/engine:gpu`)).status).toBe(200);
  const unknown = await post(`${gateway.url}/e/gpuu/v1/chat/completions`, chat('m'));
  expect(JSON.parse(String(unknown.body)).error.message).toContain('There is no engine "gpuu". Did you mean gpu?');
});

test('a coding agent is told the context window: by the configuration, else by the engine’s own list', async () => {
  const one = await upstream('m');
  one.answer((socket) => void socket.write(whole(JSON.stringify({ object: 'list', data: [{ id: 'phi', max_model_len: 16_384 }] }))));
  const gateway = await start({ gpu: { base: 'vllm', url: one.url, key: 'k', models: [{ id: 'llama', context_window: 32_768 }] } });
  const windowOf = async (model: string): Promise<unknown> => {
    const offer = await runPort(gateway.gateway).offer({ engine: 'gpu', model, dialect: 'claude', dialects: ['claude'] });
    return 'contextWindow' in offer ? offer.contextWindow : undefined;
  };
  expect([await windowOf('llama'), await windowOf('phi'), await windowOf('other')]).toEqual([32_768, 16_384, undefined]);
  expect([lineOf(one), headerOf(one, 'authorization')]).toEqual(['GET /v1/models HTTP/1.1', ['Bearer k']]);
});
