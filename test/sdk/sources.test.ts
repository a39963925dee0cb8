import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, type LanguageModel, streamText } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let upstream: RecordingUpstream;
let server: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  const engine = { url: upstream.url, key: 'k' };
  server = await startGateway({ engines: { gemini: engine, claude: engine } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const apiKey = 'not-checked';
// The SDK warns of every model that it does not know.
globalThis.AI_SDK_LOG_WARNINGS = false;
const PAGE = 'https://example.test/sun';
const TEXT = 'It shines.';

/** An answer of Gemini that rests on a page. */
function geminiAnswer(): JsonObject {
  const groundingMetadata = {
    groundingChunks: [{ web: { uri: PAGE, title: 'Sun' } }],
    groundingSupports: [{ segment: { startIndex: 0, endIndex: TEXT.length, text: TEXT }, groundingChunkIndices: [0] }],
  };
  const candidate = { index: 0, content: { role: 'model', parts: [{ text: TEXT }] }, finishReason: 'STOP', groundingMetadata };
  return { candidates: [candidate], usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }, responseId: 'r1' };
}

/** The same of Claude. */
const CLAUDE: JsonObject = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    {
      type: 'text',
      text: TEXT,
      citations: [{ type: 'web_search_result_location', url: PAGE, title: 'Sun', cited_text: 'shines', encrypted_index: 'x' }],
    },
  ],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
};

function engineSays(body: JsonObject): void {
  upstream.answer((socket, { line }) => {
    if (!line.includes('streamGenerateContent')) socket.write(whole(JSON.stringify(body)));
    else
      socket.write(Buffer.concat([Buffer.from(chunkedHead()), chunk(`data: ${JSON.stringify(body)}\r\n\r\n`), Buffer.from(lastChunk())]));
  });
}

const urlsOf = (sources: readonly { readonly sourceType: string; readonly url?: string }[]): unknown => sources.map(({ url }) => url);

describe.each<[string, (base: string) => LanguageModel]>([
  ['@ai-sdk/anthropic', (base) => createAnthropic({ baseURL: `${base}/v1`, apiKey })('m')],
  ['@ai-sdk/openai (chat)', (base) => createOpenAI({ baseURL: `${base}/v1`, apiKey }).chat('m')],
  ['@ai-sdk/openai (responses)', (base) => createOpenAI({ baseURL: `${base}/v1`, apiKey }).responses('m')],
])('ai with %s', (_, modelAt) => {
  it('shows the page that an answer of Gemini rests on, whole and streamed', async () => {
    engineSays(geminiAnswer());
    const ask = { model: modelAt(`${server.url}/e/gemini`), prompt: 'hello', maxRetries: 0 };
    const { text, sources } = await generateText(ask);
    expect([text, urlsOf(sources)]).toEqual([TEXT, [PAGE]]);
    const stream = streamText(ask);
    await stream.consumeStream();
    expect([await stream.text, urlsOf(await stream.sources)]).toEqual([TEXT, [PAGE]]);
  });
});

it('ai with @ai-sdk/google shows the page that an answer of Claude rests on', async () => {
  engineSays(CLAUDE);
  const model = createGoogleGenerativeAI({ baseURL: `${server.url}/e/claude/v1beta`, apiKey })('m');
  const { text, sources } = await generateText({ model, prompt: 'hello', maxRetries: 0 });
  expect([text, urlsOf(sources)]).toEqual([TEXT, [PAGE]]);
});
