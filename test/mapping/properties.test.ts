import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject, type Json } from '../../src/base/json.ts';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { dialects } from '../../src/dialects/index.ts';
import { Ledger } from '../../src/ir/ledger.ts';
import type { IrRequest } from '../../src/ir/request.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { repair } from '../../src/mapping/repair.ts';
import { type Fixture, fixturesOf } from '../conformance/dialect-fixtures.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { type MappingTarget, mapTo, OPTED_IN, targetOf } from '../support/mapping.ts';
import { type RecordingUpstream, startUpstream } from '../support/recording-upstream.ts';
import { anyRequest } from './conversations.ts';
import { runs } from './runs.ts';
import { parametersOf, saidIn, withoutFlags } from './survivors.ts';

const lower = { lacks: new Set<never>(), traits: new Set(['function-response-media']), defaultMaxTokens: 4096 };

/** Engines with models that differ, and the sim in every dialect. */
const TARGETS: readonly MappingTarget[] = [
  targetOf('claude', 'claude-sonnet-4-5'),
  targetOf('openai:openai-chat', 'gpt-4o'),
  targetOf('openai:openai-responses', 'gpt-5'),
  targetOf('gemini', 'gemini-2.5-flash'),
  targetOf('gemini', 'gemini-3-pro'),
  targetOf('kimi', 'kimi-k2.5'),
  targetOf('copilot', 'gpt-4.1'),
  ...dialects.map(({ id }) => targetOf(`sim:${id}`, 'sim-1')),
];

const fixtures = dialects.flatMap((source) => fixturesOf(source.id).map((fixture) => ({ source, fixture })));

function addressOf({ ir }: Fixture): { model: string; stream: boolean } {
  const { model, stream } = ir as unknown as IrRequest; // a fixture's ir.json is an IrRequest
  return { model, stream };
}

function mapFixture(target: MappingTarget, source: Dialect, fixture: Fixture): Mapping {
  return mapTo(target, source.id, fixture.request, { address: addressOf(fixture), emulate: OPTED_IN });
}

describe.each(dialects)('any conversation in the $id dialect', (dialect) => {
  test('arrives whole, up to what the dialect declares lost', () => {
    fc.assert(
      fc.property(anyRequest, (request) => {
        const repaired = repair(request.messages, dialect, new Set());
        const sent = { ...request, messages: repaired.messages };
        const { body, notes } = dialect.lowerRequest(sent, lower);
        const read = dialect.liftRequest(body, { ledger: new Ledger(), model: request.model, stream: request.stream });
        const declared = { dialect, notes: [...repaired.notes, ...notes] };
        expect(saidIn(withoutFlags(read.messages, declared), declared)).toEqual(saidIn(withoutFlags(sent.messages, declared), declared));
        expect(parametersOf(read, declared)).toEqual(parametersOf(sent, declared));
      }),
      { numRuns: runs(150) },
    );
  });

  test('says every word to an engine of any other dialect in the same bytes each time, or is refused by type', () => {
    const others = dialects.filter(({ id }) => id !== dialect.id).map(({ id }) => targetOf(`sim:${id}`, 'sim-1'));
    fc.assert(
      fc.property(anyRequest, fc.constantFrom(...others), (request, target) => {
        const { body } = dialect.lowerRequest(request, lower);
        const address = { model: request.model, stream: request.stream };
        const mapped = mapTo(target, dialect.id, body, { address });
        const again = mapTo(target, dialect.id, body, { address });
        expect(JSON.stringify(again.upstream)).toBe(JSON.stringify(mapped.upstream));
        if (mapped.error !== undefined) expect(mapped.error.code).toMatch(/^E00[123]$/);
        // Text that the caller's dialect carried is in the engine's request, each as often as it was said.
        const texts = JSON.stringify(mapped.upstream?.body ?? mapped.fidelity);
        for (const said of textsOf(mapped.asked))
          expect(mapped.upstream === undefined || texts.includes(JSON.stringify(said).slice(1, -1))).toBe(true);
      }),
      { numRuns: runs(100) },
    );
  });
});

/** The words of a request, without reasoning, which some engines cannot take back, and without blanks, which some do not take at all. */
function textsOf(request: IrRequest | undefined): string[] {
  const texts = (request?.messages ?? []).flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])));
  return texts.filter((text) => text.trim() !== '');
}

describe('the same request gives the same bytes a hundred times', () => {
  const pairs = dialects.flatMap((source) =>
    TARGETS.filter(({ dialect }) => dialect.id !== source.id).map((target) => ({ source, target, name: `${source.id} → ${target.name}` })),
  );

  test.each(pairs)('$name', ({ source, target }) => {
    const sent = fixturesOf(source.id).filter(({ name }) => ['tool-loop', 'structured-output', 'unicode'].includes(name));
    for (const fixture of sent) {
      const bytes = Array.from({ length: 100 }, () => JSON.stringify(mapFixture(target, source, fixture).upstream ?? null));
      expect(new Set(bytes).size).toBe(1);
    }
  });
});

/** Every scalar, and every empty object and list. */
function leavesOf(value: Json, path = ''): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [path] : value.flatMap((item: Json, at) => leavesOf(item, `${path}[${at}]`));
  if (!isJsonObject(value) || Object.keys(value).length === 0) return [path];
  return Object.entries(value).flatMap(([key, member]) => leavesOf(member, path === '' ? key : `${path}.${key}`));
}

describe('every leaf of the caller’s request is in the account, once', () => {
  test.each(TARGETS)('on $name', (target) => {
    for (const { source, fixture } of fixtures) {
      const { fidelity } = mapFixture(target, source, fixture);
      const leaves = leavesOf(fixture.request);
      const known = new Set(leaves);
      const single = fidelity.filter(({ count, path }) => count === undefined && known.has(path)).map(({ path }) => path);
      const counted = fidelity.reduce((sum, { count = 0 }) => sum + count, 0);
      expect([`${source.id}/${fixture.name}`, counted + single.length]).toEqual([`${source.id}/${fixture.name}`, leaves.length]);
      expect(new Set(single).size).toBe(single.length);
    }
  });
});

describe('a refused request', () => {
  let upstream: RecordingUpstream;
  let server: TestGateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    const engine = { url: upstream.url, key: 'k' };
    server = await startGateway({ engines: { claude: engine, openai: engine, gemini: engine, kimi: engine, copilot: engine } });
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
  });

  test('never reaches an upstream', async () => {
    const refused = fixtures.flatMap(({ source, fixture }) =>
      TARGETS.filter(({ engine, dialect }) => !engine.dialects.includes(source.id) && dialect.id === engine.dialects[0])
        .map((target) => ({
          source,
          fixture,
          target,
          error: mapTo(target, source.id, fixture.request, { address: addressOf(fixture) }).error,
        }))
        .filter(({ error }) => error !== undefined),
    );
    expect(refused.length).toBeGreaterThan(30);
    for (const { source, fixture, target, error } of refused) {
      const url = `${server.url}${pathOf(source, fixture, target.model)}`;
      const answer = await post(url, withModel(fixture, target.model), ['X-ABP-Engine', target.engine.id]);
      expect([source.id, fixture.name, target.name, answer.status]).toEqual([source.id, fixture.name, target.name, error?.row.status]);
    }
    expect(upstream.requests).toEqual([]);
  });
});

/** The dialect's own address for a fixture, on this server. */
function pathOf(source: Dialect, fixture: Fixture, model: string): string {
  const { stream } = addressOf(fixture);
  const path = source.paths.find((one) => one.operation === 'generate' && (one.stream === undefined || one.stream === stream));
  return path?.path.replace('{model}', model) ?? '';
}

function withModel({ request }: Fixture, model: string): Json {
  return isJsonObject(request) && request.model !== undefined ? { ...request, model } : request;
}
