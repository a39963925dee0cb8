import { sha256 } from '../base/canonical-json.ts';
import type { AbpError } from '../contract/errors.ts';
import type { Attempt, ReceiptUsage, ToolCallRecord } from '../contract/receipt.ts';
import type { RunId } from '../contract/run-id.ts';
import type { Observed } from '../dialects/dialect.ts';
import type { CloseFact, Fact, OpenFact } from '../receipts/facts.ts';
import type { Step } from '../receipts/turn.ts';
import type { LiveRuns } from './live-runs.ts';

/** Where facts go. */
export interface FactSink {
  append(fact: Fact): void;
  /** Does the step together with those of other calls that end at this moment. */
  closing(step: Step): void;
}

/** How a run ended, as far as its recorder cannot know itself. */
export type Ending = Pick<CloseFact, 'status' | 'reason' | 'error' | 'response' | 'eventCount'> & { readonly observed?: Observed };

/** Writes one run's facts: that it began, its marks, and once that it ended. */
export class Recorder {
  readonly #sink: FactSink;
  readonly #live: LiveRuns;
  readonly #run: RunId;
  readonly #at: number;
  readonly #started = performance.now();
  #engine: string | null = null;
  #status: number | null = null;
  #dispatchedMs: number | null = null;
  #firstByteMs: number | null = null;
  #lastByteMs: number | null = null;
  #closed = false;
  #earlier: Attempt[] = [];

  constructor(sink: FactSink, live: LiveRuns, run: RunId) {
    this.#sink = sink;
    this.#live = live;
    this.#run = run;
    this.#at = Date.now();
  }

  /** The run begins, or goes on elsewhere: a later opening replaces what an earlier one said. */
  open(fact: Omit<OpenFact, 'fact' | 'run' | 'at'>): void {
    this.#engine = fact.engine;
    this.#live.begin(this.#run, this.#at, fact.keyId);
    this.#sink.append({ fact: 'open', run: this.#run, at: this.#at, ...fact });
  }

  /** A try that was given up for another one before its first byte. */
  attempted(status: number | null, error: string): void {
    if (this.#engine === null) return;
    this.#earlier.push({ engine: this.#engine, status, error, ms: round(this.#elapsed() - (this.#dispatchedMs ?? 0)) });
  }

  dispatched(): void {
    this.#dispatchedMs = this.#elapsed();
  }

  firstByte(status: number): void {
    this.#status = status;
    this.#firstByteMs = this.#elapsed();
  }

  lastByte(): void {
    this.#lastByteMs = this.#elapsed();
  }

  /** A run that was refused before any engine was called. */
  refused(error: AbpError): void {
    this.close({ status: 'failed', reason: 'refused', error: { code: error.code, message: error.message }, response: null, eventCount: 0 });
  }

  /** Where the end of a run waits for no more than its journal line. */
  ending(step: Step): void {
    this.#sink.closing(step);
  }

  close(ending: Ending): void {
    if (this.#closed) return;
    this.#closed = true;
    const { observed, ...facts } = ending;
    this.#sink.append({
      fact: 'close',
      run: this.#run,
      at: Date.now(),
      ...facts,
      upstreamModel: observed?.model ?? null,
      usage: usageOf(observed),
      toolCalls: (observed?.toolCalls ?? []).map(toolCallRecord),
      attempts: this.#attempts(ending.error?.message ?? null),
      dispatchedMs: this.#dispatchedMs,
      firstByteMs: this.#firstByteMs,
      lastByteMs: this.#lastByteMs,
    });
    this.#live.end(this.#run);
  }

  #attempts(error: string | null): CloseFact['attempts'] {
    if (this.#dispatchedMs === null || this.#engine === null) return this.#earlier;
    return [...this.#earlier, { engine: this.#engine, status: this.#status, error, ms: round(this.#elapsed() - this.#dispatchedMs) }];
  }

  #elapsed(): number {
    return round(performance.now() - this.#started);
  }
}

/** Microseconds are enough. */
function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function usageOf(observed: Observed | undefined): ReceiptUsage | null {
  const usage = observed?.usage;
  if (usage === undefined) return null;
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    thinking_tokens: usage.thinkingTokens,
    web_search_requests: usage.webSearchRequests,
    estimated: usage.estimated ?? false,
  };
}

function toolCallRecord(call: Observed['toolCalls'][number]): ToolCallRecord {
  return { id: call.id ?? null, name: call.name, arguments_sha256: sha256(call.arguments), result_sha256: null };
}
