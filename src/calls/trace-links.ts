import type { RunId } from '../contract/run-id.ts';

/** A tool call as a trace shows it: without its arguments and its result. */
export interface TracedToolCall {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly ms: number;
  /** A word for the kind of its failure; undefined where it succeeded. */
  readonly error: string | undefined;
  /** The session that it belongs to, where there is one. */
  readonly sessionId?: string | undefined;
}

/** Which trace runs belong to, as far as those who begin runs must say so. Absent where nobody collects traces. */
export interface TraceLinks {
  /** The run that begins next under this id belongs to the trace that the text names, as in the header `traceparent`. */
  adopt(run: RunId, traceparent: string | undefined): void;
  /** The span of a run that begins as a part of another: how programs that it starts name it. */
  placed(run: RunId, parent: string | null): string;
  /** A tool that the run called has ended. */
  toolEnded(run: RunId, call: TracedToolCall): void;
}
