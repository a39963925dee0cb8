import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AbpClient } from '../../src/client/client.ts';
import { Receipt } from '../../src/contract/receipts/receipt.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';

let server: TestGateway;
let abp: AbpClient;
beforeAll(async () => {
  server = await startGateway();
  abp = new AbpClient({ url: server.url });
});
afterAll(async () => {
  await abp.close();
  await server.close();
});

const question = { model: 'sim-1', max_tokens: 100, messages: [{ role: 'user' as const, content: 'say "hello there"' }] };
const ask = (): string => JSON.stringify(question);

describe('a wrapped Anthropic client', () => {
  const wrapped = () => abp.wrap(new Anthropic({ baseURL: `${server.url}/e/sim`, apiKey: 'not-checked', maxRetries: 0 }));

  it('carries headers on a stream, by which the receipt is fetched', async () => {
    const client = wrapped();
    const stream = await client.messages.create({ ...question, stream: true });
    const runId = stream.headers.get('X-ABP-Run-Id') ?? '';
    const events = await Array.fromAsync(stream);
    const receipt = await abp.getReceipt(runId);
    // The SDK keeps the ping to itself.
    expect(Receipt.parse(receipt)).toMatchObject({ run_id: runId, status: 'completed', event_count: events.length + 1 });
    expect(receipt.usage?.output_tokens).toBeGreaterThan(0);
    expect(receipt.artifacts).toEqual([]);
  });

  it('carries headers on a message, which names its receipt itself', async () => {
    const message = await wrapped().messages.create(question);
    expect(message.content).toMatchObject([{ type: 'text', text: 'hello there' }]);
    expect((await abp.getReceipt(message)).run_id).toBe(message.headers.get('x-abp-run-id'));
    expect(Object.keys(message)).not.toContain('headers');
  });

  it('keeps what its promises can do besides', async () => {
    const { data, response } = await wrapped().messages.create(question).withResponse();
    expect([data.role, response.status]).toEqual(['assistant', 200]);
  });

  it('carries headers on a helper that calls on its own', async () => {
    const stream = wrapped().messages.stream(question);
    expect(await stream.finalText()).toBe('hello there');
    expect((await abp.getReceipt(stream)).status).toBe('completed');
  });

  it('does not mix up calls at the same time', async () => {
    const client = wrapped();
    const messages = await Promise.all(Array.from({ length: 10 }, () => client.messages.create(question)));
    expect(new Set(messages.map((message) => message.headers.get('x-abp-run-id'))).size).toBe(10);
  });

  it('throws the errors of its SDK', async () => {
    const failing = { ...question, messages: [{ role: 'user' as const, content: 'fail with 429' }] };
    await expect(wrapped().messages.create(failing)).rejects.toBeInstanceOf(Anthropic.RateLimitError);
  });
});

describe('a wrapped OpenAI client', () => {
  const wrapped = () => abp.wrap(new OpenAI({ baseURL: `${server.url}/e/sim/v1`, apiKey: 'not-checked', maxRetries: 0 }));
  const chat = { model: 'sim-1', messages: question.messages };

  it('carries headers on an answer and on a stream', async () => {
    const client = wrapped();
    const answer = await client.chat.completions.create(chat);
    expect((await abp.getReceipt(answer)).dialect).toBe('openai-chat');
    const stream = await client.chat.completions.create({ ...chat, stream: true });
    await Array.fromAsync(stream);
    expect((await abp.getReceipt(stream)).run_id).toBe(stream.headers.get('X-ABP-Run-Id'));
  });

  it('carries headers on a helper that calls on its own', async () => {
    const runner = wrapped().chat.completions.stream({ ...chat, stream: true });
    await runner.finalChatCompletion();
    expect((await abp.getReceipt(runner)).status).toBe('completed');
  });
});

describe('a wrapped Google client', () => {
  const wrapped = () => abp.wrap(new GoogleGenAI({ apiKey: 'not-checked', httpOptions: { baseUrl: `${server.url}/e/sim` } }));

  it('carries headers on an answer and on a stream', async () => {
    const client = wrapped();
    const answer = await client.models.generateContent({ model: 'sim-1', contents: 'say "hello there"' });
    expect(answer.text).toBe('hello there');
    expect((await abp.getReceipt(answer)).dialect).toBe('gemini');
    const stream = await client.models.generateContentStream({ model: 'sim-1', contents: 'say "hello there"' });
    const runId = stream.headers.get('x-abp-run-id') ?? '';
    await Array.fromAsync(stream);
    expect((await abp.getReceipt(runId)).status).toBe('completed');
  });
});

describe('the client', () => {
  it('gets every receipt once, in order, through broken connections', async () => {
    const received: string[] = [];
    const errors: unknown[] = [];
    let calls = 0;
    // Cuts the first stream after a few pieces.
    const flaky: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      calls += 1;
      if (calls > 1 || answer.body === null) return answer;
      let pieces = 0;
      const cut = answer.body.pipeThrough(
        new TransformStream({
          transform: (piece, controller) => {
            pieces += 1;
            controller.enqueue(piece);
            if (pieces === 3) controller.error(new Error('cut'));
          },
        }),
      );
      return new Response(cut, answer);
    };
    const client = new AbpClient({
      url: server.url,
      fetch: flaky,
      onReceipt: (receipt) => received.push(receipt.run_id),
      onError: (error) => errors.push(error),
    });
    await expect.poll(() => calls).toBe(1);
    const made: string[] = [];
    // Each is waited for, so that each is a piece of its own.
    for (let at = 0; at < 12; at += 1) made.push((await abp.getReceipt(new Headers(await headers()))).run_id);
    await expect.poll(() => received.length, { timeout: 60_000 }).toBe(12);
    expect(received).toEqual(made);
    expect(errors.length).toBe(1);
    await client.close();
  });

  it('goes on after a run that it names', async () => {
    const runs: string[] = [];
    for (let at = 0; at < 3; at += 1) runs.push((await abp.getReceipt(new Headers(await headers()))).run_id);
    const received: string[] = [];
    const client = new AbpClient({ url: server.url, after: runs[0] ?? '', onReceipt: ({ run_id }) => received.push(run_id) });
    await expect.poll(() => received, { timeout: 60_000 }).toEqual(runs.slice(1));
    await client.close();
  });

  const headers = async (): Promise<Record<string, string>> => ({
    'x-abp-run-id': String((await post(`${server.url}/e/sim/v1/messages`, ask())).headers['x-abp-run-id']),
  });

  it('lists receipts by what they are and verifies one', async () => {
    const { items } = await abp.listReceipts({ engine: 'sim', status: 'completed', limit: 2, since: '2020-01-01' });
    expect(items).toHaveLength(2);
    expect((await abp.listReceipts({ until: '2020-01-01' })).items).toEqual([]);
    const [receipt = expect.fail()] = items;
    expect(await abp.verifyReceipt(receipt.run_id)).toMatchObject({ ok: true, problems: [] });
  });

  it('says what is wrong in the words of the server, and what is no run', async () => {
    await expect(abp.getReceipt('run_1')).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(abp.getReceipt(`run_${'0'.repeat(32)}`)).rejects.toMatchObject({ code: 'not_found' });
    await expect(abp.getReceipt({})).rejects.toThrow('There is no run id');
  });

  it('says so when a run does not end in time', async () => {
    const slow = new Anthropic({ baseURL: `${server.url}/e/sim`, apiKey: 'not-checked' });
    const content = 'wait 100 ms between words and say "one two three four five six seven eight nine ten"';
    const stream = await abp.wrap(slow).messages.create({ ...question, stream: true, messages: [{ role: 'user', content }] });
    await expect(abp.getReceipt(stream, { waitMs: 50 })).rejects.toMatchObject({ code: 'request_timeout' });
    await Array.fromAsync(stream);
    expect((await abp.getReceipt(stream)).status).toBe('completed');
    // Longer than the server holds an answer.
    expect((await abp.getReceipt(stream, { waitMs: 600_000 })).status).toBe('completed');
  });
});
