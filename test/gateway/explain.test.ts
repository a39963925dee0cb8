import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

const explain = async (body: object): Promise<{ status: number; body: Record<string, unknown> }> => {
  const answer = await post(`${server.url}/v1/explain`, body);
  return { status: answer.status, body: JSON.parse(answer.body.toString()) };
};

/** A picture of some megabytes: more than a control path takes, and nothing unusual for a vendor path. */
const PICTURE = `data:image/png;base64,${'A'.repeat(3 * 1024 * 1024)}`;
const withPicture = {
  model: 'sim-1',
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: PICTURE } }] }],
};

describe('POST /v1/explain takes what a vendor path takes', () => {
  it('explains a request of several megabytes, on one engine and on several', async () => {
    const { status, body } = await explain({ from: 'openai-chat', to: 'sim:claude', request: withPicture });
    expect([status, body.mode, JSON.stringify(body.upstream).includes('A'.repeat(1000))]).toEqual([200, 'mapped', true]);
    const both = await explain({ from: 'openai-chat', to: ['sim:claude', 'sim:gemini'], request: withPicture });
    expect((both.body.results as object[]).map((one) => (one as { to: string }).to)).toEqual(['sim:claude', 'sim:gemini']);
  });

  it('says why such a request would be refused', async () => {
    const { body } = await explain({ from: 'openai-chat', to: 'sim:claude', request: { ...withPicture, logit_bias: { 1: 1 } } });
    expect(body).toMatchObject({ error: { code: 'E001' }, upstream: null });
  });

  it('refuses such a question by the same rules as a short one', async () => {
    expect((await explain({ from: 'openai-chat', to: 'sim', request: withPicture, nonsense: 1 })).status).toBe(400);
    expect((await explain({ from: 'openai-chat', to: 'sim', padding: 'x'.repeat(2 * 1024 * 1024), request: {} })).status).toBe(413);
    expect((await explain({ from: 'nobody', to: 'sim', request: withPicture })).status).toBe(404);
  });

  it('explains a request with more values than a control path reads', async () => {
    const messages = Array.from({ length: 20_000 }, (_, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: `${at}` }));
    const { status, body } = await explain({ from: 'openai-chat', to: 'sim:claude', request: { model: 'sim-1', messages } });
    expect([status, body.mode]).toEqual([200, 'mapped']);
  });

  it('reads the engine of a path, its query, and paths that count', async () => {
    const request = { model: 'sim-1', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] };
    expect((await explain({ path: '/e/sim:openai-chat/v1/messages?beta=true', request })).body).toMatchObject({
      to: 'sim:openai-chat',
      upstream: { path: '/v1/chat/completions' },
    });
    const { max_tokens: _, ...counted } = request;
    expect((await explain({ path: '/e/sim:gemini/v1/messages/count_tokens', request: counted })).body).toMatchObject({
      upstream: { path: '/v1beta/models/sim-1:countTokens' },
    });
    expect((await explain({ path: '/e/sim:openai-chat/v1/messages/count_tokens', request: counted })).body).toMatchObject({
      upstream: null,
      emulations: [{ capability: 'token_counting' }],
    });
    expect((await explain({ path: '/e/kimi/v1/chat/completions', request: counted })).body).toMatchObject({
      to: 'kimi',
      mode: 'passthrough',
    });
  });
});

describe('strict has one verdict', () => {
  const ask = { model: 'sim-1', messages: [{ role: 'user', content: 'x' }] };

  it.each([
    ['a capability that the engine lacks', { logprobs: true }],
    ['a field without a form', { logit_bias: { 1: 1 } }],
    ['several answers', { n: 2 }],
    ['a hint that would be dropped', { metadata: { a: 'b' } }],
    ['a field that nobody knows', { nonsense: 1 }],
    ['something approximated', { response_format: { type: 'json_object' } }],
  ])('for %s: E006 in the answer, the explanation and the receipt', async (_, more) => {
    const body = { ...ask, ...more };
    const headers = ['X-ABP-Compatibility', 'strict', 'content-type', 'application/json'];
    const answer = await post(`${server.url}/e/claude/v1/chat/completions`, body, headers);
    const told = JSON.parse(answer.body.toString()).error;
    expect(told.code).toBe('E006');
    const explained = await explain({ from: 'openai-chat', to: 'claude', compatibility: 'strict', request: body });
    expect(explained.body.error).toMatchObject({ code: 'E006', message: told.message, details: told.details });
    const receipt = (await fetch(`${server.url}/v1/receipts/${answer.headers['x-abp-run-id']}?wait=30`).then((one) =>
      one.json(),
    )) as Record<string, unknown>;
    expect(receipt).toMatchObject({ status: 'failed', error: { code: 'E006', message: told.message } });
    expect(receipt.negotiation).toEqual(explained.body.negotiation);
  });

  it('allows a Chat request without a token limit', async () => {
    const explained = await explain({ from: 'openai-chat', to: 'claude', compatibility: 'strict', request: ask });
    expect(explained.body.error).toBeUndefined();
  });
});
