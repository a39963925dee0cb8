import type { RunId } from '../contract/run-id.ts';
import type { RouteRow } from '../mapping/route.ts';
import type { ToolRules } from '../mapping/tools/tool-rules.ts';
import type { Admission } from './admission.ts';
import type { Balancer } from './balancing/balancer.ts';
import type { Batch } from './batch.ts';
import type { BodyBudget } from './bounds/body-budget.ts';
import type { DeniedEngines } from './denied-engines.ts';
import type { LargeBodies } from './large-bodies/large-bodies.ts';
import type { LiveRuns } from './live-runs.ts';
import type { CountedResults } from './meters/counted-results.ts';
import type { FactSink } from './recorder.ts';
import type { ResponseCache } from './response-cache/response-cache.ts';
import type { TraceLinks } from './trace-links.ts';

/** Services that all calls of one process share; the gateway makes them once, at its start. */
export interface CallContext {
  readonly sink: FactSink;
  /** Journals the beginnings and ends of calls together. */
  readonly batch: Batch;
  readonly live: LiveRuns;
  readonly admission: Admission;
  /** The deployments of every engine, by its id. */
  readonly deployments: ReadonlyMap<string, Balancer>;
  /** The route table. */
  readonly routes: readonly RouteRow[];
  /** Engines and models that the operator denies to everybody. Where models are denied, those that a body names must be known. */
  readonly denied: DeniedEngines;
  /** Rules about tools that hold for everybody. */
  readonly toolRules: readonly ToolRules[];
  /** Answers that may be given again. */
  readonly cache: ResponseCache;
  /** Memory for bodies. */
  readonly budget: BodyBudget;
  /** What was counted of results that vendors tell again and again. */
  readonly counted: CountedResults;
  /** Translates what would keep other calls waiting. */
  readonly large: LargeBodies;
  /** Which trace runs belong to; absent where nobody collects traces. */
  readonly traces?: TraceLinks | undefined;
  readonly version: string;
  /** Tells our credentials from the caller's own. */
  readonly isOurs: (secret: string) => boolean;
  /** The answer of a run could not be read for its receipt: a fault to log, never the caller's. */
  readonly onFault: (error: unknown, run: RunId) => void;
}
