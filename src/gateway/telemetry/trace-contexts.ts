import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { TracedToolCall, TraceLinks } from '../../calls/trace-links.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { RunWatcher, SeenRun } from './run-watch.ts';
import type { TelemetryConfig } from './telemetry-config.ts';

/** The place of a run in a trace. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** The span that this one is part of; undefined for the first of its trace. */
  readonly parentSpanId: string | undefined;
  readonly sampled: boolean;
  readonly state: string | undefined;
}

/** A tool call of a run whose trace is kept. */
export interface PlacedToolCall {
  readonly run: RunId;
  readonly call: TracedToolCall;
  readonly context: TraceContext;
}

/** The trace that a caller's call is part of, as its header names it. */
interface CallerContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
  readonly state: string | undefined;
}

/** Whether a trace that begins here, or goes on here, is kept. */
export type Sampling = (traceId: string, caller: boolean | undefined) => boolean;

/** Requests whose run has not begun: most of them never make one. */
const MOST_ARRIVED = 4096;
/** Runs that have ended, for calls that come late. */
const MOST_ENDED = 1024;

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** Reads the header of the W3C Trace Context; undefined for one that is not valid, which counts as none. */
export function parseTraceparent(text: string | undefined, state?: string): CallerContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(text ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1, state };
}

function traceparentOf({ traceId, spanId, sampled }: Pick<TraceContext, 'traceId' | 'spanId' | 'sampled'>): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/**
 * Which trace each run belongs to: that of the run it is part of, else that of its caller, else one of its own. The ids of a run's span follow
 * from the run's id, so that a child can name its parent before the parent's span is written, on any node.
 */
export class TraceContexts implements RunWatcher, TraceLinks {
  readonly #sampling: Sampling;
  readonly #arrived = new Map<RunId, CallerContext>();
  readonly #contexts = new Map<string, TraceContext>();
  readonly #ended = new Set<RunId>();
  /** Gets the tool calls whose trace is kept. It must not wait. */
  onToolCall: ((placed: PlacedToolCall) => void) | undefined;

  constructor(sampling: Sampling) {
    this.#sampling = sampling;
  }

  /** A request came that may become this run. */
  arrived(run: RunId, { traceparent, tracestate }: IncomingHttpHeaders): void {
    if (typeof traceparent !== 'string') return;
    const caller = parseTraceparent(traceparent, typeof tracestate === 'string' ? tracestate : undefined);
    if (caller !== undefined) this.#note(run, caller);
  }

  /** The trace of a request, for what it begins under another id: a turn, or a run of a coding agent. */
  offered(request: RunId): string | undefined {
    const caller = this.#arrived.get(request);
    return caller === undefined ? undefined : traceparentOf(caller);
  }

  adopt(run: RunId, traceparent: string | undefined): void {
    const caller = parseTraceparent(traceparent);
    if (caller !== undefined) this.#note(run, caller);
  }

  of(run: string): TraceContext | undefined {
    return this.#contexts.get(run);
  }

  placed(run: RunId, parent: string | null): string {
    const context = this.#contexts.get(run) ?? this.#place(run, parent);
    this.#contexts.set(run, context);
    this.#arrived.delete(run);
    return traceparentOf(context);
  }

  toolEnded(run: RunId, call: TracedToolCall): void {
    const above = this.#contexts.get(run);
    if (above?.sampled !== true) return;
    this.onToolCall?.({ run, call, context: { ...above, spanId: randomBytes(8).toString('hex'), parentSpanId: above.spanId } });
  }

  began({ run, parent }: SeenRun): void {
    this.placed(run, parent);
  }

  /** Its context stays for a while: the end of a run may come before the ends of calls that were cut off. */
  ended({ run }: SeenRun): void {
    this.#ended.add(run);
    if (this.#ended.size <= MOST_ENDED) return;
    for (const oldest of this.#ended) {
      this.#ended.delete(oldest);
      this.#contexts.delete(oldest);
      return;
    }
  }

  #note(run: RunId, caller: CallerContext): void {
    this.#arrived.set(run, caller);
    if (this.#arrived.size <= MOST_ARRIVED) return;
    for (const oldest of this.#arrived.keys()) {
      this.#arrived.delete(oldest);
      return;
    }
  }

  #place(run: RunId, parent: string | null): TraceContext {
    const hex = run.slice('run_'.length);
    const spanId = hex.slice(16);
    const caller = this.#arrived.get(run);
    const above = parent === null ? undefined : this.#contexts.get(parent);
    // An agent that was told our trace and goes on with it knows better than we do which of its steps calls.
    if (above !== undefined && caller?.traceId !== above.traceId) {
      return { traceId: above.traceId, spanId, parentSpanId: above.spanId, sampled: above.sampled, state: above.state };
    }
    if (caller !== undefined) {
      const { traceId, spanId: parentSpanId, sampled, state } = caller;
      return { traceId, spanId, parentSpanId, sampled: this.#sampling(traceId, sampled), state };
    }
    return { traceId: hex, spanId, parentSpanId: undefined, sampled: this.#sampling(hex, undefined), state: undefined };
  }
}

const PARENT_BASED = 'parentbased_';
/** The random part of a trace id: its last 56 bits. */
const RANDOM_DIGITS = 14;
const RANDOM_SPAN = 2 ** 56;

/** The sampler that the configuration names. A ratio keeps the same traces on every node, and those that others keep by the same rule. */
export function samplingOf({ sampler, sample_ratio: ratio }: Pick<TelemetryConfig, 'sampler' | 'sample_ratio'>): Sampling {
  const isParentBased = sampler.startsWith(PARENT_BASED);
  const rule = isParentBased ? sampler.slice(PARENT_BASED.length) : sampler;
  return (traceId, caller) => {
    if (isParentBased && caller !== undefined) return caller;
    if (rule !== 'traceidratio') return rule === 'always_on';
    return Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) >= (1 - ratio) * RANDOM_SPAN;
  };
}
