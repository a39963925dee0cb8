import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject, type Json } from '../../src/base/json.ts';
import type { ErrorCode } from '../../src/contract/errors.ts';
import { dialects } from '../../src/dialects/index.ts';
import { Ledger } from '../../src/ir/ledger.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { type Exchange, exchangesOf, hasCorpus, NO_CORPUS } from '../support/corpus.ts';
import { discoveryChecker } from '../support/discovery-schema.ts';
import { type MappingTarget, mapTo, OPTED_IN, targetOf } from '../support/mapping.ts';
import { needing } from '../support/needs.ts';
import { openapiChecker } from '../support/openapi-schema.ts';

/** Where the recorded requests of a dialect lie, and the addresses among them that generate. */
const SOURCES: Readonly<Record<string, { folder: string; url: RegExp; least: number }>> = {
  claude: { folder: 'anthropic', url: /\/v1\/messages(\?|$)/, least: 80 },
  'openai-chat': { folder: 'openai-chat', url: /\/chat\/completions/, least: 40 },
  'openai-responses': { folder: 'openai-responses', url: /\/responses(\?|$)/, least: 60 },
  gemini: { folder: 'gemini', url: /:(?:generateContent|streamGenerateContent)/, least: 60 },
  kimi: { folder: 'kimi', url: /\/chat\/completions/, least: 15 },
  copilot: { folder: 'copilot', url: /\/chat\/completions/, least: 5 },
};

/** Models of each engine that differ in what they take, and the sim in every dialect. */
const TARGETS: readonly MappingTarget[] = [
  targetOf('claude', 'claude-sonnet-4-5'),
  targetOf('claude', 'claude-3-haiku-20240307'),
  targetOf('openai:openai-chat', 'gpt-4o'),
  targetOf('openai:openai-chat', 'gpt-5'),
  targetOf('openai:openai-responses', 'gpt-4o'),
  targetOf('openai:openai-responses', 'gpt-5.2'),
  targetOf('gemini', 'gemini-2.5-flash'),
  targetOf('gemini', 'gemini-3-pro'),
  targetOf('kimi', 'moonshot-v1-8k'),
  targetOf('kimi', 'kimi-k2.5'),
  targetOf('kimi', 'kimi-k3'),
  targetOf('copilot', 'gpt-4.1'),
  ...dialects.map(({ id }) => targetOf(`sim:${id}`, 'sim-1')),
];

const REFUSALS: readonly ErrorCode[] = ['E001', 'E002', 'E003'];

/** Complaints about a body, by dialect; a vendor whose description cannot be read has none. */
const checks = new Map<string, (body: Json) => string[]>();

async function readDescriptions(): Promise<void> {
  const folder = join(process.env.ABP_CORPUS ?? '.', '..', 'vendor-openapi');
  const openai = await openapiChecker(join(folder, 'openai-openapi'));
  const anthropic = await openapiChecker(join(folder, 'anthropic-openapi'));
  const google = join(folder, 'google-discovery.json');
  if (anthropic !== undefined) checks.set('claude', (body) => anthropic('CreateMessageParams', body));
  if (openai !== undefined) checks.set('openai-chat', (body) => openai('CreateChatCompletionRequest', body));
  if (openai !== undefined) checks.set('openai-responses', (body) => openai('CreateResponse', body));
  if (existsSync(google)) {
    const discovery = discoveryChecker(google);
    checks.set('gemini', (body) => discovery('GenerateContentRequest', body));
  }
}

function requestsOf(from: string): Exchange[] {
  const source = SOURCES[from];
  // A vendor's own refusal says nothing about a translation.
  return exchangesOf(source?.folder ?? '').filter(
    ({ request, url, status }) => isJsonObject(request) && status < 400 && (url === '' || source?.url.test(url) === true),
  );
}

function mapping(target: MappingTarget, from: string, { request, url }: Exchange, emulate: typeof OPTED_IN): Mapping {
  const [, model, method] = /\/models\/([^:/]+):(\w+)/.exec(url) ?? [];
  const address = model === undefined ? {} : { model, stream: method === 'streamGenerateContent' };
  return mapTo(target, from, request ?? null, { emulate, address });
}

/** What is wrong with the outcome: a refusal must be typed and name a place, a request must be one of the target's own. */
function problems(target: MappingTarget, { error, fidelity, upstream, asked }: Mapping): string[] {
  if (error !== undefined) {
    const place = error.details.path ?? fidelity.find(({ fate }) => fate === 'refused')?.path;
    return [
      ...(REFUSALS.includes(error.code) ? [] : [`${error.code}: ${error.message}`]),
      ...(typeof place === 'string' ? [] : [`${error.code} names no place: ${error.message}`]),
    ];
  }
  // As the engine reads it.
  const body = JSON.parse(JSON.stringify(upstream?.body)) as Json; // what was just written
  const again = target.dialect.liftRequest(body, { ledger: new Ledger(), model: target.model, stream: asked?.stream ?? false });
  const lost = again.messages.length > 0 ? [] : ['nothing of the conversation arrived'];
  return [...lost, ...(checks.get(target.dialect.id)?.(body) ?? [])];
}

describe.skipIf(!hasCorpus)(needing('recorded requests on other engines', hasCorpus ? undefined : NO_CORPUS), () => {
  beforeAll(readDescriptions);

  describe.each(Object.keys(SOURCES))('%s', (from) => {
    const requests = requestsOf(from);

    test('there are enough of them to mean something', () => {
      expect(requests.length).toBeGreaterThanOrEqual(SOURCES[from]?.least ?? 0);
    });

    test.each(TARGETS.filter(({ dialect }) => dialect.id !== from))(
      'each is the engine’s own request or a typed refusal on $name',
      (target) => {
        const found = requests.flatMap((exchange) =>
          [[], OPTED_IN].flatMap((emulate) =>
            problems(target, mapping(target, from, exchange, emulate)).map((one) => `${exchange.id}: ${one}`),
          ),
        );
        expect(found).toEqual([]);
      },
    );

    test.each(TARGETS.filter(({ dialect }) => dialect.id !== from))('some of them reach $name', (target) => {
      const sent = requests.filter((exchange) => mapping(target, from, exchange, OPTED_IN).upstream !== undefined);
      expect(sent.length).toBeGreaterThan(0);
    });
  });
});
