import type { RunId } from '../contract/run-id.ts';

/** Which trace runs belong to, as far as those who begin runs must say so. Absent where nobody collects traces. */
export interface TraceLinks {
  /** The run that begins next under this id belongs to the trace that the text names, as in the header `traceparent`. */
  adopt(run: RunId, traceparent: string | undefined): void;
  /** The span of a run that begins as a part of another: how programs that it starts name it. */
  placed(run: RunId, parent: string | null): string;
}
