import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let server: TestGateway;

beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

test('every SDK lists the models, and asks for one by the name in the list or by that of its engine', async () => {
  const claude = new Anthropic({ baseURL: server.url, apiKey: 'none' });
  const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none' });
  const gemini = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: server.url } });
  const listed = (await claude.models.list()).data.map(({ id }) => id);
  expect(listed).toContain('sim/sim-1');
  expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(listed);
  for (const id of ['sim/sim-1', 'sim-1']) {
    expect(await claude.models.retrieve(id)).toMatchObject({ type: 'model', id });
    expect(await openai.models.retrieve(id)).toMatchObject({ object: 'model', id });
  }
  expect(await gemini.models.get({ model: 'sim-1' })).toMatchObject({ name: 'models/sim-1' });
});

test('a model that is not here is not found, in so many words', async () => {
  const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
  await expect(openai.models.retrieve('gpt-nowhere')).rejects.toMatchObject({ status: 404 });
});

test('Kimi and Copilot have lists of their own', async () => {
  for (const path of ['/kimi/v1/models', '/copilot/models']) {
    const list = (await (await fetch(`${server.url}${path}`)).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toContain('sim/sim-1');
    expect(await (await fetch(`${server.url}${path}/sim-1`)).json()).toMatchObject({ id: 'sim-1' });
  }
});
