import { GoogleGenAI, Type } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let upstream: RecordingUpstream;
let server: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  const engine = { url: upstream.url, key: 'k' };
  server = await startGateway({ engines: { gemini: engine, openai: engine } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const openai = (): OpenAI => new OpenAI({ baseURL: `${server.url}/e/gemini/v1`, apiKey: 'not-checked', maxRetries: 0 });
const messages = [{ role: 'user', content: 'hello' }] as const;

function candidate(index: number, text: string, last = true): JsonObject {
  const token = { token: text, tokenId: 7, logProbability: -0.5 };
  return {
    index,
    content: { role: 'model', parts: [{ text }] },
    logprobsResult: { chosenCandidates: [token], topCandidates: [{ candidates: [token] }] },
    ...(last ? { finishReason: 'STOP' } : {}),
  };
}

const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 };

/** Answers with a body, or with these events of a stream. */
function answerWith(body: JsonObject | readonly JsonObject[]): void {
  upstream.answer((socket) => {
    if (!Array.isArray(body)) socket.write(whole(JSON.stringify(body)));
    else {
      socket.write(chunkedHead());
      for (const event of body) socket.write(chunk(`data: ${JSON.stringify(event)}\r\n\r\n`));
      socket.write(lastChunk());
    }
  });
}

function sentBody(): JsonObject {
  return JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '{}');
}

describe('the OpenAI SDK on Gemini', () => {
  const logprobs = (token: string): object => ({
    content: [
      { token, logprob: -0.5, bytes: [...Buffer.from(token)], top_logprobs: [{ token, logprob: -0.5, bytes: [...Buffer.from(token)] }] },
    ],
    refusal: null,
  });
  const expected = [
    { index: 0, message: { content: 'one' }, finish_reason: 'stop', logprobs: logprobs('one') },
    { index: 1, message: { content: 'two' }, finish_reason: 'stop', logprobs: logprobs('two') },
  ];

  it('gets both answers it asked for, with their logprobs', async () => {
    answerWith({ candidates: [candidate(0, 'one'), candidate(1, 'two')], usageMetadata });
    const completion = await openai().chat.completions.create({
      model: 'g',
      messages: [...messages],
      n: 2,
      logprobs: true,
      top_logprobs: 1,
    });
    expect(sentBody().generationConfig).toEqual({ candidateCount: 2, responseLogprobs: true, logprobs: 1 });
    expect(completion.choices).toMatchObject(expected);
    expect(completion.usage?.total_tokens).toBe(5);
  });

  it('puts the same two together from a stream in which they come mixed', async () => {
    answerWith([
      { candidates: [candidate(1, 'two', false)] },
      { candidates: [candidate(0, 'one', false)] },
      { candidates: [{ index: 1, finishReason: 'STOP' }] },
      { candidates: [{ index: 0, finishReason: 'STOP' }], usageMetadata },
    ]);
    const ask = { model: 'g', messages: [...messages], n: 2, logprobs: true, top_logprobs: 1 };
    const stream = openai().chat.completions.stream({ ...ask, stream: true, stream_options: { include_usage: true } });
    expect((await stream.finalChatCompletion()).choices).toMatchObject(expected);
  });

  it('gets the logprobs in Responses, plain and streamed', async () => {
    const ask = { model: 'g', input: 'hello', include: ['message.output_text.logprobs' as const], top_logprobs: 1, store: false };
    const content = [{ type: 'output_text', text: 'one', logprobs: [{ token: 'one', logprob: -0.5, bytes: [111, 110, 101] }] }];
    answerWith({ candidates: [candidate(0, 'one')], usageMetadata });
    expect((await openai().responses.create(ask)).output).toMatchObject([{ type: 'message', content }]);
    answerWith([{ candidates: [candidate(0, 'one')], usageMetadata }]);
    const stream = openai().responses.stream({ ...ask, stream: true });
    expect((await stream.finalResponse()).output).toMatchObject([{ type: 'message', content }]);
  });
});

describe('Google’s SDK on OpenAI', () => {
  it('gets several candidates with their logprobs from Chat', async () => {
    const token = (text: string): JsonObject => ({ token: text, logprob: -0.5, bytes: [...Buffer.from(text)], top_logprobs: [] });
    const choice = (index: number, text: string): JsonObject => ({
      index,
      message: { role: 'assistant', content: text },
      finish_reason: 'stop',
      logprobs: { content: [token(text)], refusal: null },
    });
    answerWith({ id: 'c', object: 'chat.completion', model: 'm', choices: [choice(0, 'one'), choice(1, 'two')] });
    const google = new GoogleGenAI({ apiKey: 'not-checked', httpOptions: { baseUrl: `${server.url}/e/openai:openai-chat` } });
    const response = await google.models.generateContent({
      model: 'gpt-4o',
      contents: 'hello',
      config: { candidateCount: 2, responseLogprobs: true, logprobs: 3 },
    });
    expect(sentBody()).toMatchObject({ n: 2, logprobs: true, top_logprobs: 3 });
    expect(response.candidates).toMatchObject([
      { index: 0, content: { parts: [{ text: 'one' }] }, logprobsResult: { chosenCandidates: [{ token: 'one', logProbability: -0.5 }] } },
      { index: 1, content: { parts: [{ text: 'two' }] }, logprobsResult: { chosenCandidates: [{ token: 'two', logProbability: -0.5 }] } },
    ]);
  });
});

describe('one of several texts, as Google’s SDK asks for it', () => {
  const config = { responseMimeType: 'text/x.enum', responseSchema: { type: Type.STRING, enum: ['red', 'dark blue'] } };

  it('comes without quotes from every engine, streamed and not', async () => {
    for (const engine of ['sim:gemini', 'sim:claude', 'sim:openai-chat', 'sim:openai-responses', 'sim:kimi', 'sim:copilot']) {
      const google = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: `${server.url}/e/${engine}` } });
      const ask = { model: 'm', contents: 'the sea', config };
      const plain = await google.models.generateContent(ask);
      let streamed = '';
      for await (const piece of await google.models.generateContentStream(ask)) streamed += piece.text ?? '';
      expect([engine, plain.text, streamed]).toEqual([engine, 'red', 'red']);
    }
  });

  it('is asked of an engine as a schema', async () => {
    answerWith({
      id: 'c',
      object: 'chat.completion',
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: '{"value":"dark blue"}' }, finish_reason: 'stop' }],
    });
    const google = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: `${server.url}/e/openai:openai-chat` } });
    const { text } = await google.models.generateContent({ model: 'gpt-4o', contents: 'the sea', config });
    expect(text).toBe('dark blue');
    expect(sentBody().response_format).toMatchObject({
      json_schema: { schema: { properties: { value: { type: 'string', enum: ['red', 'dark blue'] } }, required: ['value'] } },
    });
  });
});
