import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Logger, symbols } from 'pino';
import type { RunId } from '../../contract/run-id.ts';
import type { Spent } from '../../receipts/usage/sealed-usage.ts';
import type { Config } from '../config.ts';
import { CallCounts } from './call-counts.ts';
import type { Otlp } from './otlp.ts';
import { type LineSink, Requests, type SeenRequest } from './requests.ts';
import { RunWatch } from './run-watch.ts';
import { metricsAddress, tracesAddress } from './telemetry-config.ts';
import { samplingOf, TraceContexts } from './trace-contexts.ts';

/** Milliseconds between exports, where the variables of OpenTelemetry say nothing else. */
const EXPORT_MS = 5000;

/** Everything by which people watch this server from outside. */
export class Telemetry {
  readonly watch: RunWatch;
  readonly counts: CallCounts;
  readonly requests: Requests;
  /** Which trace each run belongs to; undefined where nobody collects traces. */
  readonly traces: TraceContexts | undefined;
  readonly #config: Config['telemetry'];
  readonly #log: Logger;
  #otlp: Otlp | undefined;
  /** The metrics of this process as Prometheus reads them. The first question for them makes it, because it reads the whole gateway. */
  exposition: { text(): Promise<string> } | undefined;
  /** Rows of receipts that the keeper has written. */
  settled = 0;

  constructor({ metrics, telemetry }: Pick<Config, 'metrics' | 'telemetry'>, log: Logger, logsRequests: boolean) {
    this.#config = telemetry;
    this.#log = log;
    this.watch = new RunWatch((error) => log.error({ error }, 'a run could not be counted, logged or traced'));
    this.traces = tracesAddress(telemetry) === undefined ? undefined : new TraceContexts(samplingOf(telemetry));
    this.counts = new CallCounts(metrics.models);
    const write = logsRequests && log.isLevelEnabled('info') ? linesInto(log) : undefined;
    this.requests = new Requests(write, (run) => this.traces?.of(run)?.traceId);
    // First: the others ask for a run's trace.
    if (this.traces !== undefined) this.watch.add(this.traces);
    this.watch.add(this.counts);
    this.watch.add(this.requests);
  }

  /** Loads what a collector needs, where there is one. */
  async open({ version, node }: { readonly version: string; readonly node: string }): Promise<void> {
    if (this.traces === undefined && metricsAddress(this.#config) === undefined) return;
    const { Otlp: Made } = await import('./otlp.ts');
    const contexts = this.traces ?? new TraceContexts(() => false);
    this.#otlp = new Made({
      config: this.#config,
      version,
      node,
      contexts,
      everyMs: exportEvery(process.env),
      onFault: (message) => this.#log.warn({ message }, 'traces or metrics did not reach their collector'),
    });
    this.watch.add(this.#otlp);
  }

  /** A request has come. */
  arrived(run: RunId, request: IncomingMessage, response: ServerResponse): SeenRequest {
    this.traces?.arrived(run, request.headers);
    return this.requests.arrived(run, request, response);
  }

  settledRuns(runs: readonly RunId[], spent: readonly Spent[]): void {
    this.settled += runs.length;
    for (const { engine, model, nanoUsd } of spent) this.counts.spent(engine, model, nanoUsd);
  }

  async close(): Promise<void> {
    this.requests.close();
    await this.#otlp?.close();
  }
}

function exportEvery(env: NodeJS.ProcessEnv): number {
  const given = Number(env.OTEL_BSP_SCHEDULE_DELAY ?? env.OTEL_METRIC_EXPORT_INTERVAL ?? EXPORT_MS);
  return Number.isFinite(given) && given > 0 ? given : EXPORT_MS;
}

/** The place where the log writes its lines. Many lines of requests are written there at once, which costs a fraction of one by one. */
function linesInto(log: Logger): LineSink {
  const { [symbols.streamSym as unknown as 'stream']: stream } = log as unknown as { readonly stream: { write(text: string): void } }; // pino keeps it under this symbol
  return (lines) => stream.write(lines);
}
