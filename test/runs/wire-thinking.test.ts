import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adapters } from '../../src/adapters/index.ts';
import { isJsonObject, type Json, type JsonObject, parseJsonObject } from '../../src/base/json.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import { THINKING_EFFORT_LEVELS } from '../../src/contract/runs/coding-agent.ts';
import type { RunOptions } from '../../src/contract/runs/run-options.ts';
import { runPort } from '../../src/gateway/run-plane/run-port.ts';
import { createCodingAgents } from '../../src/runtime/coding-agents/coding-agents.ts';
import { carriedRows, chooseTraffic } from '../../src/runtime/runs/traffic.ts';
import { thinkingToSet } from '../../src/runtime/runs/wire-thinking.ts';
import { requestsOf } from '../support/agent-requests.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let upstream: RecordingUpstream;
let server: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  // What is answered does not matter: the request is what is read.
  upstream.answer((socket) => void socket.write(whole('{"error":{"message":"no"}}', { status: '400 Bad Request' })));
  const engine = { url: upstream.url, key: 'k' };
  server = await startGateway({ engines: { claude: engine, openai: engine, gemini: engine } });
});

afterAll(async () => {
  await server.close();
  await upstream.close();
});

/** Models of each kind: a number, a level, an effort. */
const MODELS = [
  { engine: 'claude', model: 'claude-sonnet-4-5' },
  { engine: 'claude', model: 'claude-opus-4-8' },
  { engine: 'gemini', model: 'gemini-2.5-pro' },
  { engine: 'gemini', model: 'gemini-3-flash-preview' },
  { engine: 'openai', model: 'gpt-5.2' },
] as const;

const WISHES: readonly Partial<RunOptions>[] = [
  ...THINKING_EFFORT_LEVELS.map((thinkingEffort) => ({ thinkingEffort })),
  { thinkingBudgetTokens: 5000 },
  { thinkingEffort: 'low', thinkingOverride: { budget_tokens: 6000 } },
  { thinkingOverride: { effort: 'minimal' } },
];

const { adapters: registry, knowledge } = createCodingAgents({ env: {} });

const PATHS: Readonly<Record<string, (model: string) => string>> = {
  claude: () => '/v1/messages',
  'openai-responses': () => '/v1/responses',
  'openai-chat': () => '/v1/chat/completions',
  gemini: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
};

/** Whose requests stand for those of agents that speak the same. */
const SPEAKERS = ['claude', 'codex', 'gemini', 'hermes'];

/** In the midst of tools Claude cannot begin to think about what another engine began, so only the first message is sent. */
function firstTurn(body: JsonObject): JsonObject {
  const lists = (['messages', 'input', 'contents'] as const).map((name) => [name, body[name]] as const);
  const first = (list: readonly Json[]): Json[] => list.filter((one) => isJsonObject(one) && one.role === 'user').slice(0, 1);
  return { ...body, ...Object.fromEntries(lists.flatMap(([name, list]) => (Array.isArray(list) ? [[name, first(list)]] : []))) };
}

/** What the request of an agent says of thinking when it arrives at the engine, and what the run said before it was sent. */
async function wire(agent: string, wish: Partial<RunOptions>, { engine, model }: (typeof MODELS)[number]) {
  const adapter = registry.get(agent);
  const options = { agent, prompt: 'hi', engine, model, ...wish };
  const wanted = knowledge.wanted(adapter, options);
  const port = runPort(server.gateway);
  const traffic = await chooseTraffic(adapter, options, port, wanted);
  const set = thinkingToSet(options, wanted, traffic);
  if (traffic.kind !== 'gateway' || set === undefined) throw new Error(`${agent} sets nothing`);
  const runId = newRunId();
  const key = await port.mintRunKey({
    runId,
    agent,
    engine,
    model: traffic.forcedModel ?? model,
    emulate: [...adapter.traffic.emulate, 'extended_thinking'],
    traffic: carriedRows(adapter, options),
    compatibility: 'best_effort',
    thinking: set.wire,
    raw: false,
    tags: [],
    expiresAt: Date.now() + 60_000,
  });
  const dialect = traffic.dialect ?? adapter.traffic.dialect;
  const [body] = [...requestsOf(agent, dialect), ...SPEAKERS.flatMap((speaker) => requestsOf(speaker, dialect))];
  const before = upstream.requests.length;
  const answer = await fetch(`${server.url}/e/${engine}${PATHS[dialect]?.(model)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-abp-key': key },
    body: JSON.stringify(firstTurn(body ?? {})),
  }).then((got) => got.text());
  const sent = parseJsonObject(upstream.requests[before]?.body.toString() ?? '');
  if (sent === undefined) throw new Error(`${agent} reached nobody: ${answer}`);
  return { form: parseJsonObject(set.form), sent, said: measureOf(sent) };
}

const MEASURES = [
  'thinking.budget_tokens',
  'output_config.effort',
  'reasoning.effort',
  'reasoning_effort',
  'generationConfig.thinkingConfig.thinkingBudget',
  'generationConfig.thinkingConfig.thinkingLevel',
] as const;

/** Every number and word that a request has for the amount of thinking. */
function measureOf(body: JsonObject): Record<string, Json> {
  const found = MEASURES.map(
    (path) => [path, path.split('.').reduce<Json | undefined>((at, name) => (isJsonObject(at) ? at[name] : undefined), body)] as const,
  );
  // Chat and Responses have two names for one thing.
  return Object.fromEntries(found.flatMap(([path, value]) => (value === undefined ? [] : [[path.replace('_', '.'), value]])));
}

const served = adapters.filter(({ traffic }) => traffic.unserved === undefined).map(({ agent }) => agent);

describe.each(MODELS)('$model', (served_) => {
  it.each(WISHES)('gets the same for %j from every agent, and it is what the run said before', async (wish) => {
    const seen = new Map<string, string[]>();
    for (const agent of served) {
      const { form, sent, said } = await wire(agent, wish, served_);
      expect(sent, agent).toMatchObject(form ?? { nothing: true });
      const words = JSON.stringify(said);
      seen.set(words, [...(seen.get(words) ?? []), agent]);
    }
    expect(seen.size, JSON.stringify([...seen])).toBe(1);
  });
});

it.each([
  ['claude-sonnet-4-5', 'claude', [1024, 8192, 32_768, 63_999].map((tokens) => ({ 'thinking.budget.tokens': tokens }))],
  ['claude-opus-4-8', 'claude', ['low', 'medium', 'high', 'max'].map((effort) => ({ 'output.config.effort': effort }))],
  [
    'gemini-2.5-pro',
    'gemini',
    [1024, 8192, 32_768, 32_768].map((tokens) => ({ 'generationConfig.thinkingConfig.thinkingBudget': tokens })),
  ],
  ['gpt-5.2', 'openai', ['low', 'medium', 'high', 'high'].map((effort) => ({ 'reasoning.effort': effort }))],
] as const)('the levels on %s are those of the table', async (model, engine, expected) => {
  const asked = MODELS.find((one) => one.model === model && one.engine === engine) ?? MODELS[0];
  const found = [];
  for (const thinkingEffort of THINKING_EFFORT_LEVELS) found.push((await wire('codex', { thinkingEffort }, asked)).said);
  expect(found).toEqual(expected);
});
