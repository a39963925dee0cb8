import { ApiError } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { anthropicSdks } from './anthropic.ts';
import { google } from './google.ts';
import { openaiChat, openaiResponses } from './openai.ts';
import type { Sdk } from './sdk.ts';

// An engine answers 200 with what is no answer: the official SDK of each dialect throws its own error, and whoever reads it finds the words.

const SDKS: readonly Sdk[] = [...anthropicSdks, openaiChat, openaiResponses, google];
const ENGINES: Readonly<Record<string, string>> = { claude: 'claude', 'openai-responses': 'openai', gemini: 'gemini', kimi: 'kimi' };

/** What the engine says, and what of it the caller reads. */
const SHAPES: Readonly<Record<string, readonly [body: string, words: RegExp]>> = {
  'an empty object': ['{}', /engine|answer/],
  'a page': ['<html><body>It works!</body></html>', /It works!/],
  'an error without a class': ['{"error":{"message":"the proxy fell asleep","type":"odd"}}', /the proxy fell asleep/],
  'an answer that is cut': ['{"id":"x","object":"chat.completion","choices":[{"message":{"content":"he', /engine|answer/],
};

let upstream: RecordingUpstream;
let server: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  const engine = { url: upstream.url, key: 'k' };
  server = await startGateway({ engines: Object.fromEntries(Object.values(ENGINES).map((id) => [id, engine])) });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

async function thrownBy(run: Promise<unknown>): Promise<unknown> {
  return await run.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Under Kimi's prefix and OpenAI's the path of Chat is their own. */
const CHAT_ENGINES: ReadonlySet<string> = new Set(['openai', 'kimi']);

const cells = SDKS.flatMap((sdk) =>
  Object.entries(ENGINES)
    .filter(([dialect, engine]) => dialect !== sdk.dialect && !(sdk === openaiChat && CHAT_ENGINES.has(engine)))
    .map(([, engine]) => ({ sdk, id: sdk.id, engine })),
);

describe.each(cells)('$id on $engine', ({ sdk, engine }) => {
  const base = (): string => `${server.url}/e/${engine}`;

  it.each(Object.entries(SHAPES))('throws its own error of status 502 for %s', async (_name, [body, words]) => {
    upstream.answer((socket) => void socket.write(whole(body)));
    const error = await thrownBy(sdk.plain(base(), { prompt: 'hi' }));
    expect(sdk.failures.broken.is(error)).toBe(true);
    expect(error).toMatchObject({ status: 502, message: expect.stringMatching(words) });
  });

  it.each(Object.entries(SHAPES))('throws an error with the words for %s that should be a stream', async (_name, [body, words]) => {
    upstream.answer((socket) => void socket.write(whole(body)));
    const error = await thrownBy(sdk.streamed(base(), { prompt: 'hi' }));
    expect(error).toBeInstanceOf(sdk === google ? ApiError : Error);
    expect(error).toMatchObject({ message: expect.stringMatching(words) });
  });
});
