import { randomBytes } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import { type RunId, writtenRunId } from '../../src/contract/run-id.ts';
import type { CloseFact, OpenFact } from '../../src/receipts/journal/facts.ts';
import { closeFact, openFact } from './facts.ts';
import type { TestGateway } from './gateway.ts';

/** Facts that are written between two breaths of the event loop. */
const CHUNK = 500;
const DAY_MS = 24 * 3_600_000;

const LOSSES: OpenFact['fidelity'] = [
  { path: 'max_tokens', fate: 'renamed', to: ['/generationConfig/maxOutputTokens'] },
  { path: 'messages[*].content', fate: 'exact', to: ['/contents/0/parts/0/text'], count: 4 },
  { path: 'metadata.user_id', fate: 'dropped', note: 'has no form on Gemini' },
];

interface Kind {
  readonly open: Partial<OpenFact>;
  readonly close: Partial<CloseFact>;
}

const passed = (dialect: string, engine: string, model: string, prices: string): Kind => ({
  open: { dialect, engine, backend: `engine:${engine}`, requestedModel: model, upstreamModel: model, task: `POST → ${engine}`, tags: [] },
  close: { upstreamModel: model, prices },
});

/** The kinds of calls that a busy team makes; failures are the fourteenth and the thirty-first of every fifty. */
const KINDS: readonly Kind[] = [
  passed('claude', 'claude', 'claude-sonnet-4-5', 'anthropic'),
  passed('openai-responses', 'openai', 'gpt-5.1', 'openai'),
  passed('gemini', 'gemini', 'gemini-2.5-pro', 'google'),
  {
    open: { ...passed('claude', 'gemini', 'gemini-2.5-pro', 'google').open, mode: 'mapped', fidelity: LOSSES, tags: ['project:clerk'] },
    close: { upstreamModel: 'gemini-2.5-pro', prices: 'google' },
  },
  passed('claude', 'claude', 'claude-haiku-4-5', 'anthropic'),
];

const FAILED: Partial<CloseFact> = {
  status: 'failed',
  reason: 'engine_failed',
  error: { code: 'engine_failed', message: 'the engine answered 529: overloaded' },
  response: null,
  usage: null,
  toolCalls: [],
};

const REFUSED: Partial<CloseFact> = {
  status: 'failed',
  reason: 'refused',
  error: { code: 'E001', message: 'Top-k sampling is not supported by OpenAI backend' },
  response: null,
  usage: null,
  toolCalls: [],
};

function factsOf(index: number, run: RunId, at: number, most = 30_000): readonly [OpenFact, CloseFact] {
  const kind = KINDS[index % KINDS.length] ?? { open: {}, close: {} };
  const total = 40 + ((index * 7919) % 9000);
  const input = 200 + ((index * 31) % most);
  const failure = index % 50 === 14 ? FAILED : index % 50 === 31 ? REFUSED : {};
  const usage = {
    ...{ input_tokens: input, output_tokens: 20 + ((index * 17) % 900), cache_read_tokens: Math.floor(input / 2) },
    ...{ cache_write_tokens: 0, thinking_tokens: 0, web_search_requests: 0, estimated: false },
  };
  const times = { dispatchedMs: 2, firstByteMs: total / 4, lastByteMs: total };
  return [
    openFact({ run, at, recording: 'digest', ...kind.open }),
    closeFact({ run, at: at + total, usage, ...times, attempts: [], ...kind.close, ...failure }),
  ];
}

/** A run id of that time; `uuidv7Hex` never goes back behind the last id that this process has made. */
function runIdAt(at: number, index: number): RunId {
  const counter = (index & 0xfff).toString(16).padStart(3, '0');
  return writtenRunId(`run_${at.toString(16).padStart(12, '0')}7${counter}8${randomBytes(8).toString('hex').slice(1)}`);
}

interface FillOptions {
  /** Waves in which people come and go; a whole number. */
  readonly waves?: number;
  /** The most that a call reads. */
  readonly tokens?: number;
}

/** Where in the time a share of the runs has begun; the ebb of a wave has a quarter of its flood. */
function timeOf(share: number, waves: number): number {
  return waves === 0 ? share : share + (0.6 * Math.sin(2 * Math.PI * waves * share)) / (2 * Math.PI * waves);
}

/**
 * Puts runs into a home the way a server does, without calling anybody: their facts go through the journal, and the keeper prices, seals
 * and adds them up. They began over the time before now, the oldest first: evenly, or in waves as people come and go.
 */
export async function fillRuns(
  { gateway: { keeper } }: TestGateway,
  many: number,
  spanMs = 30 * DAY_MS,
  { waves = 0, tokens }: FillOptions = {},
): Promise<void> {
  const began = Date.now() - spanMs;
  for (let from = 0; from < many; from += CHUNK) {
    keeper.gather();
    for (let index = from; index < Math.min(many, from + CHUNK); index += 1) {
      const at = began + Math.floor(timeOf(index / many, waves) * spanMs);
      for (const fact of factsOf(index, runIdAt(at, index), at, tokens)) keeper.append(fact);
    }
    keeper.flush();
    await breathe();
  }
  await keeper.settled();
}
