import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { anthropicSdks } from './anthropic.ts';
import { google } from './google.ts';
import { openaiChat, openaiResponses } from './openai.ts';
import type { Ask, Sdk } from './sdk.ts';
import { vercelSdks } from './vercel.ts';

const SDKS: readonly Sdk[] = [...anthropicSdks, openaiChat, openaiResponses, google, ...vercelSdks];

/** Where each SDK goes: to its own dialect, and to every other. */
function targetsOf(sdk: Sdk): string[] {
  return ['sim', ...dialects.filter(({ id }) => id !== sdk.dialect).map(({ id }) => `sim:${id}`)];
}

const CELLS = SDKS.flatMap((sdk) => targetsOf(sdk).map((target) => ({ sdk, id: sdk.id, target })));

/** Requests whose plain and streamed answers must be the same message. */
const ASKS: Readonly<Record<string, Ask>> = {
  text: { prompt: 'say "Grüße 😀 two  spaces"' },
  'a call': { prompt: 'call the tool search with {"query":"a \\"quoted\\" ü"}', tools: true },
  'two calls': { prompt: 'call the tool search with {"query":"a"} and call the tool search with {"query":"b"}', tools: true },
};

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

describe.each(CELLS)('$id on $target', ({ sdk, target }) => {
  const base = (): string => `${server.url}/e/${target}`;

  it('gets an answer', async () => {
    expect(await sdk.plain(base(), { prompt: 'say "hello there"' })).toMatchObject({ text: 'hello there', calls: [] });
  });

  it.each(Object.entries(ASKS))('gets the same message streamed as plain: %s', async (_, ask) => {
    const plain = await sdk.plain(base(), ask);
    expect(plain.text !== '' || plain.calls.length > 0).toBe(true);
    expect((await sdk.streamed(base(), ask)).whole).toEqual(plain.whole);
  });

  it('runs a tool loop of three turns', async () => {
    const prompt = 'call the tool search with {"query":"one"}, then call the tool search with {"query":"two"}, then say "done"';
    expect(await sdk.loop(base(), prompt)).toEqual({ text: 'done', inputs: [{ query: 'one' }, { query: 'two' }], turns: 3 });
  });

  it('gets JSON of the schema it asks for, plain and streamed', async () => {
    for (const answer of [
      await sdk.plain(base(), { prompt: 'weather', structured: true }),
      await sdk.streamed(base(), { prompt: 'weather', structured: true }),
    ]) {
      const value: unknown = JSON.parse(answer.text);
      expect(value).toEqual({ city: expect.any(String), degrees: expect.any(Number) });
    }
  });

  it.each([
    ['limited', 'fail with 429'],
    ['broken', 'fail with 500'],
    ['overloaded', 'fail with 503'],
  ] as const)('throws its own error when the engine is %s', async (kind, prompt) => {
    for (const ask of [sdk.plain, sdk.streamed]) {
      const error: unknown = await ask(base(), { prompt }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const { is, status } = sdk.failures[kind];
      expect([is(error), statusOf(error)]).toEqual([true, status]);
    }
  });
});

function statusOf(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error;
  return 'statusCode' in error ? error.statusCode : 'status' in error ? error.status : error;
}

it('nothing of all this was a fault of the server', () => {
  const faults = server
    .logs()
    .split('\n')
    .filter((line) => line.includes('"level":50'));
  expect(faults).toEqual([]);
});
