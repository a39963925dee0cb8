import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../src/base/json.ts';
import { dialects } from '../../src/dialects/index.ts';
import type { MappingInput } from '../../src/mapping/mapping.ts';
import { type Exchange, exchangesOf } from '../support/corpus.ts';
import { type MappingTarget, targetOf } from '../support/mapping.ts';

/** Models of each engine that differ in what they take, and the sim in every dialect. */
export const TARGETS: readonly MappingTarget[] = [
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

/** Where the recorded exchanges of a dialect lie, the addresses among them that generate, and how many requests there are at least. */
export const CORPUS: Readonly<Record<string, { readonly folder: string; readonly url: RegExp; readonly least: number }>> = {
  claude: { folder: 'anthropic', url: /\/v1\/messages(\?|$)/, least: 80 },
  'openai-chat': { folder: 'openai-chat', url: /\/chat\/completions/, least: 40 },
  'openai-responses': { folder: 'openai-responses', url: /\/responses(\?|$)/, least: 60 },
  gemini: { folder: 'gemini', url: /:(?:generateContent|streamGenerateContent)/, least: 60 },
  kimi: { folder: 'kimi', url: /\/chat\/completions/, least: 15 },
  copilot: { folder: 'copilot', url: /\/chat\/completions/, least: 5 },
};

/** A request that a caller may send. */
export interface SampleRequest {
  readonly id: string;
  readonly from: string;
  readonly body: JsonObject;
  readonly address: MappingInput['address'];
}

/** An exchange of a vendor: what was asked, where it is known, and the answer. */
export interface SampleAnswer {
  readonly id: string;
  readonly from: string;
  readonly answer: JsonObject;
  readonly request?: JsonObject;
}

const FIXTURES = join(import.meta.dirname, '../../src/dialects');

function readObject(file: string): JsonObject | undefined {
  try {
    const parsed = parseJson(readFileSync(file, 'utf8'));
    return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
  } catch {
    // A fixture without this file has nothing to tell here.
    return undefined;
  }
}

function fixtureCases(): { readonly id: string; readonly from: string; readonly folder: string }[] {
  return dialects.flatMap(({ id: from }) =>
    readdirSync(join(FIXTURES, from, 'fixtures')).map((name) => ({
      id: `fixture ${from}/${name}`,
      from,
      folder: join(FIXTURES, from, 'fixtures', name),
    })),
  );
}

/** The fixtures of all dialects, which are part of the repository. */
export function fixtureRequests(): SampleRequest[] {
  return fixtureCases().flatMap(({ id, from, folder }) => {
    const body = readObject(join(folder, 'request.json'));
    const about = readObject(join(folder, 'about.json'));
    return body === undefined ? [] : [{ id, from, body, address: addressOf(about?.url) }];
  });
}

export function fixtureAnswers(): SampleAnswer[] {
  return fixtureCases().flatMap(({ id, from, folder }) => {
    const answer = readObject(join(folder, 'response.json'));
    const request = readObject(join(folder, 'request.json'));
    return answer === undefined ? [] : [{ id, from, answer, ...(request === undefined ? {} : { request }) }];
  });
}

export function fixtureStreams(): SampleStream[] {
  return fixtureCases().flatMap(({ id, from, folder }) => {
    const file = join(folder, 'stream.sse');
    return existsSync(file) ? [{ id, from, stream: readFileSync(file) }] : [];
  });
}

/** A recorded exchange and the dialect that it is in. */
export interface Recorded {
  readonly from: string;
  readonly exchange: Exchange;
}

/** Everything that was recorded at an address that generates, failures too. */
export function allRecorded(): Recorded[] {
  return Object.entries(CORPUS).flatMap(([from, { folder, url }]) =>
    exchangesOf(folder)
      .filter((exchange) => exchange.url === '' || url.test(exchange.url))
      .map((exchange) => ({ from, exchange })),
  );
}

/** A vendor's own refusal says nothing about a translation. */
function recorded(): Recorded[] {
  return allRecorded().filter(({ exchange }) => exchange.status < 400);
}

/** The recorded requests of all dialects; none without the corpus. */
export function recordedRequests(): SampleRequest[] {
  return recorded().flatMap(({ from, exchange: { id, request, url } }) =>
    isJsonObject(request) ? [{ id, from, body: request, address: addressOf(url) }] : [],
  );
}

/** Streams of a vendor as they came. */
export interface SampleStream {
  readonly id: string;
  readonly from: string;
  readonly stream: Buffer;
}

export function recordedStreams(): SampleStream[] {
  return recorded().flatMap(({ from, exchange: { id, stream } }) => (stream === undefined ? [] : [{ id, from, stream }]));
}

export function recordedAnswers(): SampleAnswer[] {
  return recorded().flatMap(({ from, exchange: { id, request, body } }) =>
    isJsonObject(body) ? [{ id, from, answer: body, ...(isJsonObject(request) ? { request } : {}) }] : [],
  );
}

function addressOf(url: Json | undefined): MappingInput['address'] {
  const [, model, method] = /\/models\/([^:/]+):(\w+)/.exec(typeof url === 'string' ? url : '') ?? [];
  return model === undefined ? { model: 'asked-model', stream: false } : { model, stream: method === 'streamGenerateContent' };
}
