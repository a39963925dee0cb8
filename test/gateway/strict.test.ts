import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../src/base/json.ts';
import { dialects } from '../../src/dialects/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { dialectOf } from '../support/mapping.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { hardCases } from '../truth/hard-cases.ts';
import { fixtureRequests, type SampleRequest } from '../truth/sources.ts';

// Strict over HTTP: explain, the vendor path, its receipt and negotiate say the same of a request.

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway({ config: { recording: { default: 'off' } } });
});
afterAll(() => server.close());

/** Every so many of the samples goes to each engine, another one to each. */
const STEP = 15;
const samples = [...fixtureRequests(), ...hardCases()];
const PAIRS = dialects.flatMap(({ id: to }, nth) =>
  samples
    .filter((sample, at) => sample.from !== to && (at + nth * 5) % STEP === 0)
    .map((sample) => ({ id: sample.id, sample, to: `sim:${to}` })),
);

const STRICT = ['x-abp-compatibility', 'strict'];

async function wire({ from, body, address }: SampleRequest, to: string): Promise<{ body: JsonObject; run: string; status: number }> {
  const paths = dialectOf(from).paths.filter(({ operation }) => operation === 'generate');
  const { path } = paths.find(({ stream }) => stream === undefined || stream === (address.stream === true)) ?? paths[0] ?? { path: '/' };
  const inAddress = path.includes('{model}');
  const answer = await post(
    `${server.url}${path.replace('{model}', 'sim-1')}`,
    JSON.stringify(inAddress ? body : { ...body, model: 'sim-1' }),
    [...STRICT, 'x-abp-engine', to],
  );
  return { status: answer.status, run: String(answer.headers['x-abp-run-id']), body: parseJsonObject(answer.body.toString()) ?? {} };
}

/** The code of ours, wherever the caller's dialect puts it. */
function codeIn(body: JsonObject): string | undefined {
  return /"code":"(E00\d|invalid_request)"/.exec(JSON.stringify(body))?.[1];
}

describe('a strict request', () => {
  it.each(PAIRS)('$id → $to', async ({ sample, to }) => {
    const inAddress = sample.body.model === undefined;
    const explained = await post(`${server.url}/v1/explain`, {
      ...{ from: sample.from, to, compatibility: 'strict', stream: sample.address.stream === true },
      request: inAddress ? sample.body : { ...sample.body, model: 'sim-1' },
      ...(inAddress ? { model: 'sim-1' } : {}),
    });
    const said = parseJsonObject(explained.body.toString()) ?? {};
    const real = await wire(sample, to);
    const receipt = await receiptOf(server.url, real.run);
    const foreseen = isJsonObject(said.error) ? said.error.code : undefined;
    // A request that is served may still meet a failure that it asks the sim for.
    expect(real.status < 400 ? undefined : codeIn(real.body)).toBe(foreseen);
    expect(receipt.error?.code === undefined || receipt.reason !== 'refused' ? undefined : receipt.error.code).toBe(foreseen);
    expect(receipt.negotiation).toEqual(said.negotiation);
    expect(receipt.fidelity).toEqual(withoutPlaces(said.fidelity));
    if (foreseen === undefined) expect(receipt.negotiation?.unmet ?? []).toEqual([]);
  });

  it('was tried in many pairs, refused and served', () => {
    expect(PAIRS.length).toBeGreaterThan(60);
  });
});

/** Explanations add where a leaf arrives. */
function withoutPlaces(fidelity: unknown): unknown {
  return Array.isArray(fidelity) ? fidelity.map(({ to: _place, ...entry }) => entry) : fidelity;
}

describe('negotiate in strict', () => {
  it('finds unmet what the manifest of the engine does not call native, and explain and the wire refuse it as required by header', async () => {
    const required = [{ capability: 'extended_thinking', min_support: 'emulated' }];
    const asked = { backend: 'engine:gemini', requirements: { required }, compatibility: 'strict' };
    const { unmet } = parseJsonObject((await post(`${server.url}/v1/negotiate`, asked)).body.toString()) ?? {};
    expect(unmet).toMatchObject([{ capability: 'extended_thinking', min_support: 'native' }]);
    const request = { model: 'gemini-2.5-pro', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };
    const headers = [...STRICT, 'x-abp-engine', 'gemini', 'x-abp-require', 'extended_thinking=emulated'];
    const real = await post(`${server.url}/v1/messages`, request, headers);
    const explained = await post(`${server.url}/v1/explain`, {
      ...{ from: 'claude', to: 'gemini', request, compatibility: 'strict', requirements: { required } },
    });
    const said = parseJsonObject(explained.body.toString()) ?? {};
    expect(codeIn(parseJsonObject(real.body.toString()) ?? {})).toBe('E006');
    expect(said).toMatchObject({ error: { code: 'E006' }, negotiation: { unmet } });
    expect((await receiptOf(server.url, real.headers['x-abp-run-id'])).negotiation?.unmet).toEqual(unmet);
  });
});
