import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { isJsonObject, type Json, type JsonObject } from '../src/base/json.ts';
import { Config } from '../src/gateway/config.ts';
import { startServer } from '../src/gateway/server.ts';
import { openHome } from '../src/home/home.ts';
import { exchangesOf } from '../test/support/corpus.ts';
import { type BenchReport, judge } from './harness.ts';

const LEAST_RATIO = 0.95;
const AGENTS = 12;
const TURNS = 8;
/** The deployments of four keys, as they are called where nobody names them. */
const FOUR = ['d1', 'd2', 'd3', 'd4'];

/** The calls of one conversation, each with all that was said before. */
interface Conversation {
  readonly path: string;
  readonly calls: readonly JsonObject[];
}

const LISTS = [
  { vendor: 'anthropic', path: '/e/sim/v1/messages', list: 'messages' },
  { vendor: 'openai-chat', path: '/e/sim/v1/chat/completions', list: 'messages' },
  { vendor: 'openai-responses', path: '/e/sim/v1/responses', list: 'input' },
] as const;

/** Recorded requests of three messages and more: each beginning that the model had to answer was a call of its own. */
function recorded(): Conversation[] {
  return LISTS.flatMap(({ vendor, path, list }) =>
    exchangesOf(vendor).flatMap(({ request }) => {
      const said = isJsonObject(request) ? request[list] : undefined;
      if (!isJsonObject(request) || !Array.isArray(said) || said.length < 3) return [];
      const ends = said.flatMap((one, at) => (isAsked(one) ? [at + 1] : []));
      return [{ path, calls: ends.map((end) => ({ ...request, stream: false, [list]: said.slice(0, end) })) }];
    }),
  );
}

function isAsked(one: Json): boolean {
  return isJsonObject(one) && (one.role === 'user' || one.role === 'tool' || one.type === 'function_call_output');
}

/** Agents at work under one system prompt and the same tools, with the mark of Claude Code on the last message. */
function generated(): Conversation[] {
  const mark = { cache_control: { type: 'ephemeral' } };
  const system = [{ type: 'text', text: 'You are a careful engineer. '.repeat(400), ...mark }];
  return Array.from({ length: AGENTS }, (_, who) => ({
    path: '/e/sim/v1/messages',
    calls: Array.from({ length: TURNS }, (_all, turn) => ({
      model: 'm',
      max_tokens: 20,
      system,
      messages: Array.from({ length: 2 * turn + 1 }, (_one, at) => ({
        role: at % 2 === 0 ? 'user' : 'assistant',
        content: [
          { type: 'text', text: `message ${at} of agent ${who}: ${`words ${who} ${at} `.repeat(40)}`, ...(at === 2 * turn ? mark : {}) },
        ],
      })),
    })),
  }));
}

interface Read {
  readonly cached: number;
  readonly all: number;
}

const number = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
const part = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** Tokens that a model read, as its dialect tells them. */
function readOf(answer: JsonObject): Read {
  const usage = part(answer.usage);
  const marked = number(usage.cache_read_input_tokens);
  const cached = marked + number(part(usage.prompt_tokens_details ?? usage.input_tokens_details).cached_tokens);
  const apart = marked + number(usage.cache_creation_input_tokens);
  return { cached, all: number(usage.prompt_tokens) + number(usage.input_tokens) + apart };
}

/** The part of all that was read which came from a cache. `inTurns`: every call goes to the next key. */
async function hitRate(conversations: readonly Conversation[], keys: number, inTurns = false): Promise<{ rate: number; calls: number }> {
  const parent = mkdtempSync(join(tmpdir(), 'abp-affinity-'));
  const deployments = Array.from({ length: keys }, (_, at) => ({ key: `key-${at}` }));
  const config = Config.parse({ server: { port: 0 }, engines: { sim: { prompt_cache: true, deployments } } });
  const server = await startServer({
    config,
    home: openHome({ path: join(parent, 'home') }),
    version: '0',
    log: pino({ level: 'silent' }),
  });
  let [cached, all, calls] = [0, 0, 0];
  try {
    const talk = async ({ path, calls: asks }: Conversation): Promise<void> => {
      for (const ask of asks) {
        const turn = inTurns ? { 'x-abp-deployment': FOUR[calls % keys] ?? '' } : {};
        calls += 1;
        const headers = { 'content-type': 'application/json', ...turn };
        const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(ask) });
        if (!answer.ok) continue;
        const read = readOf((await answer.json()) as JsonObject); // an answer of sim
        cached += read.cached;
        all += read.all;
      }
    };
    await Promise.all(conversations.map(talk));
  } finally {
    await server.close();
    rmSync(parent, { recursive: true, force: true });
  }
  return { rate: all === 0 ? 0 : cached / all, calls };
}

/** How much of the prompt caches is left when calls are shared among four keys. */
export async function benchAffinity(): Promise<BenchReport> {
  const sources = [
    { what: 'recorded conversations', conversations: recorded() },
    { what: `${AGENTS} agents of ${TURNS} turns`, conversations: generated() },
  ].filter(({ conversations }) => conversations.length > 0);
  const measured = [];
  for (const { what, conversations } of sources) {
    const [one, four, turns] = [await hitRate(conversations, 1), await hitRate(conversations, 4), await hitRate(conversations, 4, true)];
    measured.push({ what: `${what} (${conversations.length} of ${one.calls} calls)`, one: one.rate, four: four.rate, turns: turns.rate });
  }
  return {
    title: 'Affinity',
    method:
      'Calls of conversations, all conversations at once, on the engine sim, whose deployments each remember prompts as a vendor’s key does; the hit rate is the part of all tokens read that came from memory. ' +
      'Recorded conversations are the requests of ABP_CORPUS with three messages and more: each beginning that the model had to answer is a call. In turns: the same calls, each sent to the next key by `X-ABP-Deployment`.',
    findings: measured.map(({ what, one, four }) => ({
      what: `${what}: hit rate with four keys to that with one`,
      figure: (four / one).toFixed(3),
      target: `≥ ${LEAST_RATIO}`,
      verdict: judge(-four / one, -LEAST_RATIO),
    })),
    table: [
      ['conversations', 'one key', 'four keys', 'four keys in turns'],
      ...measured.map(({ what, one, four, turns }) => [what, one.toFixed(3), four.toFixed(3), turns.toFixed(3)]),
    ],
  };
}
