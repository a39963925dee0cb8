import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { whole } from '../support/recording-upstream.ts';
import { startVendors } from './vendor-upstream.ts';

let vendors: Awaited<ReturnType<typeof startVendors>>;
let server: TestGateway;
/** Without keys of its own: the caller's credential goes to its vendor. */
let keyless: TestGateway;

beforeAll(async () => {
  vendors = await startVendors();
  const engine = { url: vendors.url, key: 'sk-engine' };
  server = await startGateway({ engines: { claude: engine, gemini: engine, openai: engine } });
  keyless = await startGateway({ engines: { claude: { url: vendors.url }, openai: { url: vendors.url } } });
});
afterAll(async () => {
  await Promise.all([server.close(), keyless.close()]);
  await vendors.close();
});

const SHARED = { apiKey: 'sk-engine', maxRetries: 0 };
const claudeRequest = { model: 'claude-conformance', max_tokens: 1024, messages: [{ role: 'user' as const, content: 'Hello' }] };
const codexRequest = { model: 'gpt-5', messages: [{ role: 'user' as const, content: 'Hello' }] };

async function collect<T>(stream: PromiseLike<AsyncIterable<T>>): Promise<T[]> {
  const events: T[] = [];
  for await (const event of await stream) events.push(event);
  return events;
}

/** The two last requests as the vendor saw them: the same body, and the same headers of the SDK. */
function expectSameRequests(): void {
  const [direct, through] = vendors.requests.slice(-2);
  expect(through?.body.equals(direct?.body ?? Buffer.alloc(0))).toBe(true);
  const own = new Set(['host', 'connection']);
  const headers = (request: typeof direct) => request?.headers.filter(([name]) => !own.has(name.toLowerCase()));
  expect(headers(through)).toEqual(headers(direct));
}

const STREAMS = ['streaming', 'tool-call', 'parallel-tools', 'thinking', 'unicode'];

describe.each(STREAMS)('on a vendor stream with %s', (name) => {
  it('passthrough_parity_claude_to_claude', async () => {
    vendors.play(name);
    const vendorEvents = await collect(
      new Anthropic({ ...SHARED, baseURL: vendors.url }).messages.create({ ...claudeRequest, stream: true }),
    );
    const abpEvents = await collect(new Anthropic({ ...SHARED, baseURL: keyless.url }).messages.create({ ...claudeRequest, stream: true }));
    expect(vendorEvents.length).toBeGreaterThan(3);
    expect(abpEvents).toEqual(vendorEvents);
    expectSameRequests();
  });

  it('passthrough_parity_codex_to_codex', async () => {
    vendors.play(name);
    const direct = new OpenAI({ ...SHARED, baseURL: `${vendors.url}/v1` });
    const through = new OpenAI({ ...SHARED, baseURL: `${keyless.url}/v1` });
    const chat = { ...codexRequest, stream: true as const, stream_options: { include_usage: true } };
    const vendorEvents = await collect(direct.chat.completions.create(chat));
    expect(vendorEvents.length).toBeGreaterThan(3);
    expect(await collect(through.chat.completions.create(chat))).toEqual(vendorEvents);
    expectSameRequests();
    const responses = { model: 'gpt-5', input: 'Hello', stream: true as const };
    const vendorResponses = await collect(direct.responses.create(responses));
    expect(vendorResponses.length).toBeGreaterThan(3);
    expect(await collect(through.responses.create(responses))).toEqual(vendorResponses);
    expectSameRequests();
  });
});

it('passthrough_parity of an answer in one piece, for both vendors', async () => {
  vendors.play('text');
  const [claude, abpClaude] = [vendors.url, keyless.url].map((baseURL) => new Anthropic({ ...SHARED, baseURL }));
  expect(await abpClaude!.messages.create(claudeRequest)).toEqual(await claude!.messages.create(claudeRequest));
  const [codex, abpCodex] = [vendors.url, keyless.url].map((url) => new OpenAI({ ...SHARED, baseURL: `${url}/v1` }));
  expect(await abpCodex!.chat.completions.create(codexRequest)).toEqual(await codex!.chat.completions.create(codexRequest));
});

it('mapped_unsupported_feature_fails_early', async () => {
  const [requests, sockets] = [vendors.requests.length, vendors.sockets.length];
  const client = new Anthropic({ ...SHARED, baseURL: `${server.url}/e/gemini` });
  const thinking = { type: 'enabled' as const, budget_tokens: 1024 };
  for (const stream of [false, true]) {
    const error = await client.messages.create({ ...claudeRequest, model: 'gemini-2.5-pro', max_tokens: 4096, thinking, stream }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(error).toMatchObject({
      status: 400,
      error: {
        type: 'error',
        error: {
          code: 'E001',
          type: 'UnsupportedFeature',
          message: 'Extended thinking is not supported by Gemini backend',
          details: { feature: 'extended_thinking', dialect: 'claude-style', engine: 'gemini' },
          retryable: false,
        },
      },
    });
    const run = error instanceof Anthropic.APIError ? (error.headers?.get('x-abp-run-id') ?? '') : '';
    expect(await receiptOf(server.url, run)).toMatchObject({ status: 'failed', mode: 'mapped', response: null, error: { code: 'E001' } });
  }
  // Not a byte, not even a connection.
  expect([vendors.requests.length, vendors.sockets.length]).toEqual([requests, sockets]);
});

/** Claude's answer when it was made to call a tool. */
const TOOL_ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-conformance',
  content: [{ type: 'tool_use', id: 'toolu_1', name: 'json_answer', input: { city: 'Paris', sunny: true } }],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 20, output_tokens: 9 },
};

it('mapped_capability_emulation_works', async () => {
  vendors.answer((socket) => void socket.write(whole(JSON.stringify(TOOL_ANSWER))));
  const client = new OpenAI({ ...SHARED, baseURL: `${server.url}/e/claude/v1` });
  const { data, response } = await client.chat.completions
    .create({ model: 'claude-conformance', messages: codexRequest.messages, response_format: { type: 'json_object' } })
    .withResponse();
  const sent = JSON.parse(vendors.requests.at(-1)!.body.toString());
  expect(sent.tools).toEqual([
    expect.objectContaining({ name: 'json_answer', input_schema: { type: 'object', additionalProperties: true } }),
  ]);
  expect(sent.tool_choice).toEqual({ type: 'tool', name: 'json_answer', disable_parallel_tool_use: true });
  expect(data.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: '{"city":"Paris","sunny":true}' } });
  expect(data.choices[0]?.message.tool_calls).toBeUndefined();
  const receipt = await receiptOf(server.url, response.headers.get('x-abp-run-id') ?? '');
  expect(receipt.emulations).toEqual([
    {
      capability: 'json_mode',
      strategy: { type: 'post_processing', detail: 'forced tool use: the answer is the arguments of the tool json_answer' },
    },
  ]);
});

it('receipt_contains_all_events', async () => {
  vendors.play('streaming');
  for (const path of ['/v1/messages', '/e/gemini/v1/messages', '/e/openai/v1/messages', '/e/sim/v1/messages']) {
    const answer = await post(`${server.url}${path}`, { ...claudeRequest, stream: true });
    const events = answer.body.toString().split('\n\n').filter(Boolean);
    expect(events.length).toBeGreaterThan(3);
    const receipt = await receiptOf(server.url, answer.headers['x-abp-run-id']);
    expect([path, receipt.event_count, receipt.status]).toEqual([path, events.length, 'completed']);
    expect(receipt.receipt_sha256).toMatch(/^[0-9a-f]{64}$/);
  }
});

it('receipt_hash_is_deterministic', async () => {
  vendors.play('text');
  for (const path of ['/v1/messages', '/e/gemini/v1/messages', '/e/sim/v1/messages', '/e/sim:openai-responses/v1/messages']) {
    const hash = async (content: string): Promise<string | null> => {
      const answer = await post(`${server.url}${path}`, { ...claudeRequest, messages: [{ role: 'user', content }] });
      expect(answer.status).toBe(200);
      return (await receiptOf(server.url, answer.headers['x-abp-run-id'])).receipt_sha256;
    };
    const [first, second, other] = [await hash('say "one"'), await hash('say "one"'), await hash('say "two"')];
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  }
});
