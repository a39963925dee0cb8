import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { fixtureAnswers, type SampleAnswer } from '../truth/sources.ts';
import { streamOf } from '../truth/vendor-streams.ts';
import { anthropicSdks } from './anthropic.ts';
import { google } from './google.ts';
import { openaiChat, openaiResponses } from './openai.ts';
import type { Said, Sdk } from './sdk.ts';

/** The engine that speaks each dialect. */
const ENGINES: Readonly<Record<string, string>> = {
  claude: 'claude',
  'openai-chat': 'openai:openai-chat',
  'openai-responses': 'openai:openai-responses',
  gemini: 'gemini',
  kimi: 'kimi',
  copilot: 'copilot',
};
/** A stream is cut anywhere on its way, also inside of a letter. */
const CUT = 37;

let upstream: RecordingUpstream;
let server: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  const engine = { url: upstream.url, key: 'k' };
  const engines = Object.fromEntries(['claude', 'openai', 'gemini', 'kimi', 'copilot'].map((id) => [id, engine]));
  server = await startGateway({ engines });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

function answerWith({ from, answer }: SampleAnswer): void {
  const stream = streamOf(from, answer);
  const pieces = Array.from({ length: Math.ceil(stream.length / CUT) }, (_, at) => stream.subarray(at * CUT, (at + 1) * CUT));
  upstream.answer((socket, { line, body }) => {
    const isStream = line.includes('streamGenerateContent') || body.includes('"stream":true');
    socket.write(
      isStream
        ? Buffer.concat([Buffer.from(chunkedHead()), ...pieces.map(chunk), Buffer.from(lastChunk())])
        : whole(JSON.stringify(answer)),
    );
  });
}

/** What the SDK read, or the class of its error. */
async function learnt(asked: Promise<Said>): Promise<unknown> {
  try {
    const { text, calls } = await asked;
    return { text: text.trim(), calls };
  } catch (error) {
    return error instanceof Error ? 'an error' : error;
  }
}

/** Fixtures that are one answer, told in words and calls; a call that the limit cut off is told as far as it goes in a stream alone. */
const samples = fixtureAnswers().filter(({ id }) => !/incomplete|several|audio/.test(id));
const sdks: readonly Sdk[] = [openaiChat, openaiResponses, ...anthropicSdks.slice(0, 1), google];

describe.each(sdks)('$id', (sdk) => {
  test.each(Object.keys(ENGINES).filter((from) => from !== sdk.dialect))(
    'reads the same from a stream of %s as from the whole answer',
    async (from) => {
      const some = samples.filter((sample) => sample.from === from);
      expect(some.length).toBeGreaterThan(3);
      const base = `${server.url}/e/${ENGINES[from]}`;
      for (const sample of some) {
        answerWith(sample);
        const plain = await learnt(sdk.plain(base, { prompt: 'hi' }));
        expect([sample.id, await learnt(sdk.streamed(base, { prompt: 'hi' }))]).toEqual([sample.id, plain]);
      }
    },
  );
});
