import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let server: TestGateway;
let upstream: RecordingUpstream;

beforeAll(async () => {
  upstream = await startUpstream();
  const engine = { url: upstream.url, key: 'k' };
  server = await startGateway({ engines: { claude: engine, openai: engine, gemini: engine } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

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

/** The SDKs of three vendors at an address that pins an engine. */
function sdksAt(engine: string) {
  const base = `${server.url}/e/${engine}`;
  return {
    claude: new Anthropic({ baseURL: base, apiKey: 'none', maxRetries: 0 }),
    openai: new OpenAI({ baseURL: `${base}/v1`, apiKey: 'none', maxRetries: 0 }),
    gemini: new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: base } }),
  };
}

async function googleIds(gemini: GoogleGenAI): Promise<string[]> {
  const ids: string[] = [];
  for await (const { name } of await gemini.models.list({ config: { pageSize: 1000 } })) ids.push(String(name));
  return ids;
}

test('sim answers to every name, so each SDK can ask for any model of it', async () => {
  for (const engine of ['sim', 'sim:gemini', 'sim:openai-responses']) {
    const { claude, openai, gemini } = sdksAt(engine);
    expect(await claude.models.retrieve('any-name')).toMatchObject({ type: 'model', id: 'any-name' });
    expect(await openai.models.retrieve('any-name')).toMatchObject({ object: 'model', id: 'any-name' });
    expect(await gemini.models.get({ model: 'any-name' })).toMatchObject({ name: 'models/any-name' });
    expect(await googleIds(gemini)).toContain('models/sim/sim-1');
  }
});

test('a list that the SDK could not read is ours, of the models of the engine and by its names', async () => {
  const before = upstream.requests.length;
  const { claude, openai } = sdksAt('gemini');
  expect((await openai.models.list()).data.map(({ id }) => id)).toContain('gemini-2.5-pro');
  expect((await claude.models.list()).data.map(({ id }) => id)).toContain('gemini-2.5-pro');
  expect(await openai.models.retrieve('gemini-2.5-pro')).toMatchObject({ object: 'model', id: 'gemini-2.5-pro', owned_by: 'gemini' });
  await expect(openai.models.retrieve('gpt-nowhere')).rejects.toMatchObject({ status: 404 });
  for (const [engine, model] of [
    ['claude', 'models/claude-sonnet-4-5'],
    ['openai:openai-chat', 'models/gpt-4o'],
  ] as const) {
    const listed = await googleIds(sdksAt(engine).gemini);
    expect(listed).toContain(model);
    expect(listed.filter((id) => id.includes('gemini'))).toEqual([]);
    expect(await sdksAt(engine).gemini.models.get({ model })).toMatchObject({ name: model });
  }
  expect(upstream.requests.length).toBe(before);
});

test('the list of a vendor whose SDK asks is its own, byte for byte', async () => {
  upstream.answer((socket) => void socket.write(whole('{"data":[{"id":"own"}],"models":[{"name":"models/own"}]}')));
  expect((await sdksAt('claude').claude.models.list()).data).toEqual([{ id: 'own' }]);
  expect((await sdksAt('openai').openai.models.list()).data).toEqual([{ id: 'own' }]);
  expect(await googleIds(sdksAt('gemini').gemini)).toEqual(['models/own']);
  const byKey = await fetch(`${server.url}/e/gemini/v1/models?key=none`);
  expect(await byKey.json()).toMatchObject({ models: [{ name: 'models/own' }] });
});
