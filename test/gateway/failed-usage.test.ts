import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let server: TestGateway;
let upstream: RecordingUpstream;

beforeAll(async () => {
  upstream = await startUpstream();
  const engine = { url: upstream.url, key: 'sk-test' };
  server = await startGateway({ engines: { gemini: engine, kimi: engine } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

function answers(events: readonly object[], streamed: boolean): void {
  const body = streamed ? events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') : JSON.stringify(events[0]);
  const headers = [`content-type: ${streamed ? 'text/event-stream' : 'application/json'}`];
  upstream.answer((socket) => {
    socket.write(whole(body, { headers }));
  });
}

const ASK = { model: 'gemini-2.5-flash', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] };
describe.each([false, true])('an answer that fails after it was paid for, streamed: %s', (stream) => {
  it('counts what the engine says it used, and tells the fate of all of it', async () => {
    const said = {
      content: { parts: [{ text: 'half' }], role: 'model' },
      finishReason: 'MALFORMED_RESPONSE',
      finishMessage: 'why',
      index: 0,
    };
    const usageMetadata = { promptTokenCount: 1000, candidatesTokenCount: 500, totalTokenCount: 1500 };
    answers([{ candidates: [said], usageMetadata, modelVersion: 'gemini-2.5-flash', responseId: 'r' }], stream);
    const answer = await post(`${server.url}/e/gemini/v1/messages`, { ...ASK, stream });
    expect(answer.body.toString()).toContain('Gemini gave no answer (MALFORMED_RESPONSE): why');
    const { status, usage, cost, answer_fidelity: fidelity = [] } = await receiptOf(server.url, String(answer.headers['x-abp-run-id']));
    expect([status, usage?.input_tokens, usage?.output_tokens, cost?.nano_usd]).toEqual(['failed', 1000, 500, 1_550_000]);
    const fateAt = (end: string): unknown => fidelity.find(({ path }) => path.endsWith(end));
    expect(fateAt('finishReason')).toMatchObject({ fate: 'renamed', code: 'told_as_error', note: 'error' });
    expect(fateAt('finishMessage')).toMatchObject({ fate: 'renamed', code: 'told_as_error', note: 'error' });
    expect(fateAt('<text>.text')).toMatchObject(stream ? { fate: 'exact' } : { fate: 'dropped', code: 'answer_failed' });
  });

  it('counts an answer that would be empty', async () => {
    const parts = [{ toolCall: { toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['owls'] } } }];
    const usageMetadata = { promptTokenCount: 1000, candidatesTokenCount: 500, totalTokenCount: 1500 };
    answers([{ candidates: [{ content: { parts, role: 'model' }, finishReason: 'STOP' }], usageMetadata, responseId: 'r' }], stream);
    const answer = await post(`${server.url}/e/gemini/v1/messages`, { ...ASK, stream });
    expect(answer.body.toString()).toContain('holds nothing but calls of hosted tools');
    const { usage, answer_fidelity: fidelity = [] } = await receiptOf(server.url, String(answer.headers['x-abp-run-id']));
    expect([usage?.input_tokens, usage?.output_tokens]).toEqual([1000, 500]);
    expect(fidelity.find(({ path }) => path.endsWith('finishReason'))).toMatchObject({ fate: 'dropped', code: 'answer_failed' });
  });
});

it('estimates a translated stream that breaks off before it tells its usage', async () => {
  const content = 'many words '.repeat(40);
  answers(
    [{ id: 'c', object: 'chat.completion.chunk', model: 'kimi-k2', choices: [{ index: 0, delta: { role: 'assistant', content } }] }],
    true,
  );
  const ask = { contents: [{ role: 'user', parts: [{ text: 'x'.repeat(400) }] }] };
  const answer = await post(`${server.url}/e/kimi/v1beta/models/kimi-k2-0905-preview:streamGenerateContent?alt=sse`, ask);
  expect(answer.body.toString()).toContain('many words');
  const { status, usage } = await receiptOf(server.url, String(answer.headers['x-abp-run-id']));
  expect([status, usage?.estimated, usage?.output_tokens]).toEqual(['failed', true, 110]);
  expect(usage?.input_tokens).toBeGreaterThanOrEqual(100);
});

it.each([
  ['audio that was read from a cache', { promptTokenCount: 1000, cachedContentTokenCount: 500, candidatesTokenCount: 4 }, 406_000],
  ['less than its parts', { promptTokenCount: 0, cachedContentTokenCount: 0, candidatesTokenCount: 4 }, 610_000],
])('a receipt comes after an answer whose usage tells %s', async (_, counts, nanoUsd) => {
  const usageMetadata = {
    ...counts,
    promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 600 }],
    cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 300 }],
  };
  const content = { parts: [{ text: 'It is a song.' }], role: 'model' };
  answers([{ candidates: [{ content, finishReason: 'STOP' }], usageMetadata, modelVersion: 'gemini-2.5-flash', responseId: 'r' }], false);
  const answer = await post(`${server.url}/e/gemini/v1/messages`, ASK);
  const { cost, usage } = await receiptOf(server.url, String(answer.headers['x-abp-run-id']));
  expect([cost?.nano_usd, usage?.details]).toEqual([nanoUsd, { audio_cache_read_tokens: 300, audio_input_tokens: 600 }]);
});
