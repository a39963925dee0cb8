import { parseRunId, type RunId } from '../../src/contract/run-id.ts';
import { factLine, parseClosing, parseOpening } from '../../src/receipts/journal/fact-line.ts';
import type { CloseFact, OpenFact } from '../../src/receipts/journal/facts.ts';
import type { CloseTexts, OpenTexts } from '../../src/receipts/journal/texts.ts';
import type { Sealer } from '../../src/receipts/keeper/build.ts';

export function runIdOf(text: string): RunId {
  const run = parseRunId(text);
  if (run === undefined) throw new Error(`${text} is no run id`);
  return run;
}

const RUN = runIdOf('run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b');

/** A gateway run that has begun, with the given members changed. */
export function openFact(changes: Partial<OpenFact> = {}): OpenFact {
  return {
    fact: 'open',
    run: RUN,
    at: 1_800_000_000_000,
    plane: 'gateway',
    task: 'POST /v1/messages → sim',
    dialect: 'claude',
    engine: 'sim',
    backend: 'engine:sim',
    requestedModel: 'sim-1',
    upstreamModel: 'sim-1',
    mode: 'passthrough',
    compatibility: 'best_effort',
    negotiation: null,
    emulations: [],
    fidelity: [],
    request: { sha256: 'a'.repeat(64), bytes: 10 },
    upstreamRequest: { sha256: 'a'.repeat(64), bytes: 10 },
    recording: 'full',
    enforcement: 'enforced',
    tags: ['blue'],
    keyId: null,
    parent: null,
    ...changes,
  };
}

/** How that run ended, with the given members changed. */
export function closeFact(changes: Partial<CloseFact> = {}): CloseFact {
  return {
    fact: 'close',
    run: RUN,
    at: 1_800_000_000_250,
    status: 'completed',
    reason: null,
    error: null,
    response: { sha256: 'b'.repeat(64), bytes: 20, status: 200 },
    upstreamModel: 'sim-1-20270101',
    eventCount: 7,
    usage: {
      input_tokens: 3,
      output_tokens: 4,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      thinking_tokens: 0,
      web_search_requests: 0,
      estimated: false,
    },
    toolCalls: [{ id: 'call_1', name: 'search', arguments_sha256: 'c'.repeat(64), result_sha256: null }],
    attempts: [{ engine: 'sim', status: 200, error: null, ms: 199 }],
    dispatchedMs: 1,
    firstByteMs: 2.5,
    lastByteMs: 200,
    cost: null,
    prices: null,
    replayable: false,
    ...changes,
  };
}

/** Seals receipts without a key: for tests that look at the rest of them. */
export function unsignedSealer(): Sealer {
  let sequence = 0;
  return {
    seal: (before, after) => {
      sequence += 1;
      const members = `"hash":"${'1'.repeat(64)}","key_id":"key_1","previous":"${'0'.repeat(64)}","sequence":${sequence}`;
      return { document: Buffer.from(before + members + after, 'latin1'), sequence };
    },
  };
}

/** The fact as the keeper reads it from the journal. */
export function openTextsOf(fact: OpenFact): OpenTexts {
  return parseOpening(factLine(fact), 'test');
}

/** The fact as the keeper reads it from the journal. */
export function closeTextsOf(fact: CloseFact): CloseTexts {
  return parseClosing(factLine(fact), 'test');
}
