import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { receiptOf } from '../support/receipt-of.ts';

let server: TestGateway;
let client: Anthropic;

beforeAll(async () => {
  server = await startGateway();
  client = new Anthropic({ baseURL: `${server.url}/e/sim`, apiKey: 'not-checked', maxRetries: 0 });
});
afterAll(() => server.close());

type Request = Anthropic.MessageCreateParamsNonStreaming;

function ask(content: string, more: Partial<Request> = {}): Request {
  return { model: 'sim-1', max_tokens: 1024, messages: [{ role: 'user', content }], ...more };
}

const search: Anthropic.Tool = {
  name: 'search',
  description: 'Searches.',
  input_schema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};

/** Requests whose plain and streamed answers must agree. */
const CASES: Readonly<Record<string, Request>> = {
  'plain text': ask('say "Grüße 😀 \u2028 two  spaces"'),
  'a long text': ask(`say "${'many words '.repeat(800)}end"`, { max_tokens: 8000 }),
  'a tool call': ask('call the tool search with {"query":"a \\"quoted\\" ü"}', { tools: [search] }),
  'two tool calls': ask('call the tool search with {"query":"a"} and call the tool search with {"query":"b"}', { tools: [search] }),
  thinking: ask('say "done"', { max_tokens: 4096, thinking: { type: 'enabled', budget_tokens: 2048 } }),
  'a stop sequence': ask('say "one two STOP three"', { stop_sequences: ['STOP'] }),
  'a token limit': ask(`say "${'word '.repeat(100)}"`, { max_tokens: 5 }),
};

describe('the official SDK', () => {
  it('gets an answer', async () => {
    const message = await client.messages.create(ask('say "hello there"'));
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'sim-1',
      content: [{ type: 'text', text: 'hello there' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
    });
    expect(message.usage.input_tokens).toBeGreaterThan(0);
    expect(message.usage.output_tokens).toBeGreaterThan(0);
  });

  it.each(Object.entries(CASES))('gets the same message streamed as plain: %s', async (_, request) => {
    const plain = await client.messages.create(request);
    const streamed = await client.messages.stream(request).finalMessage();
    expect(streamed.content).toEqual(plain.content);
    expect(streamed).toMatchObject({
      id: plain.id,
      model: plain.model,
      role: plain.role,
      stop_reason: plain.stop_reason,
      stop_sequence: plain.stop_sequence,
      usage: { input_tokens: plain.usage.input_tokens, output_tokens: plain.usage.output_tokens },
    });
  });

  it('sees text arrive in pieces, in order', async () => {
    const pieces: string[] = [];
    const stream = client.messages.stream(ask('say "one two three four"')).on('text', (text) => pieces.push(text));
    await stream.done();
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe('one two three four');
  });

  it('calls a tool, returns its result and gets the answer', async () => {
    const first = ask('call the tool search with {"query":"weather"}', { tools: [search] });
    const message = await client.messages.create(first);
    expect(message.stop_reason).toBe('tool_use');
    const [block] = message.content;
    expect(block).toMatchObject({ type: 'tool_use', name: 'search', input: { query: 'weather' } });
    if (block?.type !== 'tool_use') throw new Error('no tool use');
    const answer = await client.messages.create({
      ...first,
      messages: [
        ...first.messages,
        { role: 'assistant', content: message.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: block.id, content: 'sunny, 21 degrees' }] },
      ],
    });
    expect(answer).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: 'sunny, 21 degrees' }] });
  });

  it('gets a signed thought before the answer when thinking is on', async () => {
    const { content } = await client.messages.create(CASES.thinking!);
    expect(content.map((block) => block.type)).toEqual(['thinking', 'text']);
    expect(content[0]).toMatchObject({ thinking: expect.stringMatching(/./), signature: expect.stringMatching(/./) });
  });

  it('is stopped by a stop sequence and by the token limit', async () => {
    expect(await client.messages.create(CASES['a stop sequence']!)).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'STOP',
      content: [{ type: 'text', text: 'one two ' }],
    });
    const limited = await client.messages.create(CASES['a token limit']!);
    expect(limited.stop_reason).toBe('max_tokens');
    expect(limited.usage.output_tokens).toBeLessThanOrEqual(5);
  });

  it('counts tokens', async () => {
    const { max_tokens: _, ...request } = ask('one two three');
    const { input_tokens } = await client.messages.countTokens(request);
    expect(input_tokens).toBe((await client.messages.create(ask('one two three'))).usage.input_tokens);
  });

  it.each([
    [429, Anthropic.RateLimitError, 'rate_limit_error'],
    [500, Anthropic.InternalServerError, 'api_error'],
    [529, Anthropic.InternalServerError, 'overloaded_error'],
    [401, Anthropic.AuthenticationError, 'authentication_error'],
    [404, Anthropic.NotFoundError, 'not_found_error'],
  ])('throws its own error for %i, with the request id', async (status, Class, type) => {
    for (const stream of [false, true]) {
      const error = await client.messages.create({ ...ask(`fail with ${status}`), stream }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(Class);
      const api = error as InstanceType<typeof Anthropic.APIError>; // checked above
      expect(api).toMatchObject({ status, error: { type: 'error', error: { type } } });
      const run = api.headers?.get('x-abp-run-id') ?? '';
      expect(run).toMatch(/^run_[0-9a-f]{32}$/);
      expect(api.requestID).toBe(run.replace('run_', 'req_'));
      expect(api.error).toMatchObject({ request_id: api.requestID });
    }
  });

  it('throws its own error for a refusal of ours, with the request id of the run', async () => {
    const error = await client.messages.create(ask('hello'), { headers: { 'X-ABP-Require': 'logprobs=native' } }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.InternalServerError);
    const run: string = error.headers.get('x-abp-run-id');
    expect(error).toMatchObject({
      status: 501,
      error: { type: 'error', error: { code: 'E006', request_id: run.replace('run_', 'req_'), retryable: false } },
    });
  });

  it('does not try a refusal again that will not change', async () => {
    let calls = 0;
    const counted: typeof fetch = (...request) => {
      calls += 1;
      return fetch(...request);
    };
    const patient = new Anthropic({ baseURL: `${server.url}/e/sim`, apiKey: 'x', maxRetries: 3, fetch: counted });
    await expect(patient.messages.create(ask('x'), { headers: { 'X-ABP-Require': 'logprobs=native' } })).rejects.toThrow();
    expect(calls).toBe(1);
  });

  it('throws when the stream is cut', async () => {
    await expect(client.messages.stream(ask('say "one two three four" and cut the stream')).finalMessage()).rejects.toThrow();
    await expect(client.messages.create(ask('say "one two" and cut the stream'))).rejects.toThrow();
  });

  it('finds the run of an answer by withResponse, and the run has a receipt', async () => {
    const { data, response, request_id } = await client.messages.create(ask('say "hi"')).withResponse();
    const run = response.headers.get('x-abp-run-id') ?? '';
    expect(run).toMatch(/^run_[0-9a-f]{32}$/);
    expect(request_id).toBe(run.replace('run_', 'req_'));
    const receipt = await receiptOf(server.url, run);
    expect(receipt).toMatchObject({ status: 'completed', dialect: 'claude', engine: 'sim', mode: 'passthrough', event_count: 1 });
    expect(receipt.usage).toMatchObject({ input_tokens: data.usage.input_tokens, output_tokens: data.usage.output_tokens });
  });

  it('finds the run of a stream by withResponse', async () => {
    const { response, data } = await client.messages.create({ ...ask('say "hi"'), stream: true }).withResponse();
    let events = 0;
    for await (const _ of data) events += 1;
    const receipt = await receiptOf(server.url, response.headers.get('x-abp-run-id') ?? '');
    // The SDK keeps the ping to itself.
    expect(receipt).toMatchObject({ status: 'completed', event_count: events + 1 });
  });

  it('cancels a stream, and the receipt says so', async () => {
    const controller = new AbortController();
    const { response, data } = await client.messages
      .create(
        { ...ask('wait 30 ms between words and say "one two three four five six seven eight nine ten"'), stream: true },
        { signal: controller.signal },
      )
      .withResponse();
    for await (const event of data) if (event.type === 'content_block_delta') break;
    controller.abort();
    const receipt = await receiptOf(server.url, response.headers.get('x-abp-run-id') ?? '');
    expect(receipt).toMatchObject({ status: 'cancelled', reason: 'client_closed', response: { status: 200 } });
  });

  it('reaches the engine by header and by model prefix too', async () => {
    const plain = new Anthropic({ baseURL: server.url, apiKey: 'x', maxRetries: 0 });
    const byHeader = await plain.messages.create(ask('say "h"'), { headers: { 'X-ABP-Engine': 'sim' } });
    const byPrefix = await plain.messages.create(ask('say "p"', { model: 'sim/sim-1' })).withResponse();
    expect(byHeader.content).toEqual([{ type: 'text', text: 'h' }]);
    expect(byPrefix.data).toMatchObject({ model: 'sim-1', content: [{ type: 'text', text: 'p' }] });
    const receipt = await receiptOf(server.url, byPrefix.response.headers.get('x-abp-run-id') ?? '');
    expect(receipt).toMatchObject({ mode: 'mapped', model: { requested: 'sim/sim-1', upstream: 'sim-1' } });
    expect(receipt.fidelity.map(({ path, fate }) => [path, fate])).toContainEqual(['model', 'renamed']);
  });
});

it('nothing of all this was a fault of the server', () => {
  expect(server.faults()).toBe('');
});
