import { afterAll, beforeAll, expect, it } from 'vitest';
import { ModelCatalogue } from '../../src/gateway/api/model-catalogue.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call } from '../support/http-call.ts';

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

async function models(query: string) {
  const { body } = await call(`${server.url}/v1/matrix/models?${query}`);
  return ModelCatalogue.parse(JSON.parse(String(body)));
}

it('lists models of an engine with limits, thinking and list prices', async () => {
  const { items, total } = await models('engine=claude');
  expect(total).toBe(items.length);
  expect(new Set(items.map(({ engine }) => engine))).toEqual(new Set(['claude']));
  const known = items.find(({ id }) => id === 'claude-sonnet-4-5');
  expect(known?.rates).toMatchObject({ input: 3_000_000_000, output: 15_000_000_000, cache_read: 300_000_000 });
  expect(items.some(({ thinking }) => thinking !== null)).toBe(true);
});

it('tells what tokens would cost, with the tiers of the list, and no price where there is none', async () => {
  const [model] = (await models('engine=claude&q=claude-sonnet-4-5&input_tokens=10000&output_tokens=1000&cached_tokens=4000')).items;
  expect(model?.cost_nano_usd).toBe(6000 * 3000 + 4000 * 300 + 1000 * 15_000);
  const { items } = await models('engine=gemini&q=gemini-2.5-pro&input_tokens=300000');
  const tiered = items.find(({ id }) => id === 'gemini-2.5-pro');
  expect(tiered?.cost_nano_usd).toBeGreaterThan(((tiered?.rates?.input ?? 0) * 300_000) / 1_000_000);
});

it('refuses more cached tokens than were sent', async () => {
  expect((await call(`${server.url}/v1/matrix/models?input_tokens=1&cached_tokens=2`)).status).toBe(400);
});
