import {
  createTraceState,
  type DiagLogger,
  DiagLogLevel,
  diag,
  type Histogram,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { CloseFact } from '../../receipts/journal/facts.ts';
import { BoundedNames } from './call-counts.ts';
import { type GenAiSpan, SCHEMA_URL, spanOf, toolSpanOf } from './genai.ts';
import { durationOf, isCall, type RunWatcher, type SeenRun } from './run-watch.ts';
import { metricsAddress, type TelemetryConfig, tracesAddress } from './telemetry-config.ts';
import type { PlacedToolCall, TraceContext, TraceContexts } from './trace-contexts.ts';

export interface OtlpOptions {
  readonly config: TelemetryConfig;
  readonly version: string;
  readonly node: string;
  readonly contexts: TraceContexts;
  /** Milliseconds between two exports. */
  readonly everyMs: number;
  /** Something did not reach the collector; told once a minute at most. */
  readonly onFault: (message: string) => void;
}

interface Ended {
  readonly run: SeenRun;
  readonly end: CloseFact;
  readonly context: TraceContext | undefined;
}

/** Milliseconds since the epoch at which a span begins, ends, and has its first byte. */
interface SpanTimes {
  readonly from: number;
  readonly to: number;
  readonly firstByte?: number | undefined;
}

/** Ends gather this long before spans are made of them, away from the calls. */
const GATHER_MS = 200;
/** Beyond this many in that time the rest is not told; the metrics of Prometheus count them all. */
const MOST_GATHERED = 20_000;
const SCOPE = 'agent-backplane';
const MOST_MODELS = 100;
const CLOSE_MS = 5000;
/** The bounds that the conventions advise. */
const TOKEN_BOUNDS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
const SECOND_BOUNDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/** Sends traces and metrics to a collector. Loaded only where one is configured. */
export class Otlp implements RunWatcher {
  readonly #contexts: TraceContexts;
  readonly #spans: SpanWriter | undefined;
  readonly #meters: MeterWriter | undefined;
  readonly #onFault: (message: string) => void;
  #gathered: Ended[] = [];
  #toolCalls: PlacedToolCall[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor({ config, version, node, contexts, everyMs, onFault }: OtlpOptions) {
    this.#onFault = onceAMinute(onFault);
    diag.setLogger(loggerOf(this.#onFault), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    const [traces, metrics] = [tracesAddress(config), metricsAddress(config)];
    const resource = resourceOf(config, version, node);
    this.#contexts = contexts;
    contexts.onToolCall = (placed) => {
      if (this.#hasRoom()) this.#toolCalls.push(placed);
    };
    this.#spans = traces === undefined ? undefined : new SpanWriter(traces, resource, { version, everyMs });
    this.#meters = metrics === undefined ? undefined : new MeterWriter(metrics, resource, { version, everyMs });
  }

  ended(run: SeenRun, end: CloseFact): void {
    if (this.#hasRoom()) this.#gathered.push({ run, end, context: this.#contexts.of(run.run) });
  }

  /** Sends what there is; a collector that is away does not keep a server from ending. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#write();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, CLOSE_MS);
    await Promise.race([Promise.allSettled([this.#spans?.close(), this.#meters?.close()]), late.promise]);
    clearTimeout(timer);
  }

  /** Whether one more end can be told; what has gathered is written soon. */
  #hasRoom(): boolean {
    this.#timer ??= setTimeout(() => this.#write(), GATHER_MS).unref();
    if (this.#gathered.length + this.#toolCalls.length < MOST_GATHERED) return true;
    this.#onFault('more calls end than can be told; some have no span');
    return false;
  }

  #write(): void {
    this.#timer = undefined;
    const [gathered, toolCalls] = [this.#gathered, this.#toolCalls];
    [this.#gathered, this.#toolCalls] = [[], []];
    for (const placed of toolCalls) {
      const { at: from, ms } = placed.call;
      this.#spans?.write(placed.context, toolSpanOf(placed), SpanKind.INTERNAL, { from, to: from + ms });
    }
    for (const one of gathered) {
      const span = spanOf(one.run, one.end);
      if (one.context?.sampled === true) {
        const kind = isCall(one.run) ? SpanKind.CLIENT : SpanKind.INTERNAL;
        this.#spans?.write(one.context, span, kind, timesOf(one));
      }
      if (isCall(one.run) && span.operation !== undefined) this.#meters?.record(one, span);
    }
  }
}

function timesOf({ run, end }: Ended): SpanTimes {
  const from = run.at;
  return { from, to: from + durationOf(run, end), firstByte: end.firstByteMs === null ? undefined : from + end.firstByteMs };
}

const FAULTS_MS = 60_000;

function onceAMinute(tell: (message: string) => void): (message: string) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (message) => {
    const now = performance.now();
    if (now - last < FAULTS_MS) return;
    last = now;
    tell(message);
  };
}

/** The SDK tells its troubles to one logger of the process. */
function loggerOf(onFault: (message: string) => void): DiagLogger {
  const quiet = (): void => undefined;
  return { error: onFault, warn: onFault, info: quiet, debug: quiet, verbose: quiet };
}

function resourceOf({ service_name: name }: TelemetryConfig, version: string, node: string): Resource {
  const told = detectResources({ detectors: [envDetector] });
  return told.merge(resourceFromAttributes({ 'service.name': name, 'service.version': version, 'service.instance.id': node }));
}

interface WriterOptions {
  readonly version: string;
  readonly everyMs: number;
}

class SpanWriter {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  /** The ids of the span that is made next. */
  #next = { traceId: '', spanId: '' };

  constructor(url: string, resource: Resource, { version, everyMs }: WriterOptions) {
    const exporter = new OTLPTraceExporter({ url });
    this.#provider = new TracerProvider({
      resource,
      spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: everyMs, maxQueueSize: MOST_GATHERED })],
      idGenerator: { generateTraceId: () => this.#next.traceId, generateSpanId: () => this.#next.spanId },
    });
    this.#tracer = this.#provider.getTracer(SCOPE, version, { schemaUrl: SCHEMA_URL });
  }

  write(
    { traceId, spanId, parentSpanId, state }: TraceContext,
    { name, attributes, error }: GenAiSpan,
    kind: SpanKind,
    { from, to, firstByte }: SpanTimes,
  ): void {
    this.#next = { traceId, spanId };
    const parent =
      parentSpanId === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, {
            traceId,
            spanId: parentSpanId,
            traceFlags: TraceFlags.SAMPLED,
            isRemote: true,
            ...(state === undefined ? {} : { traceState: createTraceState(state) }),
          });
    const span = this.#tracer.startSpan(name, { kind, startTime: from, attributes }, parent);
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    if (firstByte !== undefined) span.addEvent('abp.first_byte', undefined, firstByte);
    span.end(to);
  }

  async close(): Promise<void> {
    await this.#provider.shutdown();
  }
}

class MeterWriter {
  readonly #provider: MeterProvider;
  readonly #duration: Histogram;
  readonly #firstChunk: Histogram;
  readonly #tokens: Histogram;
  readonly #models = new BoundedNames(MOST_MODELS);

  constructor(url: string, resource: Resource, { version, everyMs }: WriterOptions) {
    const exporter = new OTLPMetricExporter({ url });
    const reader = new PeriodicExportingMetricReader({
      exporter,
      exportIntervalMillis: everyMs,
      exportTimeoutMillis: Math.min(everyMs, CLOSE_MS),
    });
    this.#provider = new MeterProvider({ resource, readers: [reader] });
    const meter = this.#provider.getMeter(SCOPE, version, { schemaUrl: SCHEMA_URL });
    const seconds = { unit: 's', advice: { explicitBucketBoundaries: SECOND_BOUNDS } };
    this.#duration = meter.createHistogram('gen_ai.client.operation.duration', { ...seconds, description: 'GenAI operation duration.' });
    this.#firstChunk = meter.createHistogram('gen_ai.client.operation.time_to_first_chunk', {
      ...seconds,
      description: 'Time to the first chunk of a streamed answer.',
    });
    this.#tokens = meter.createHistogram('gen_ai.client.token.usage', {
      unit: '{token}',
      description: 'Number of input and output tokens used.',
      advice: { explicitBucketBoundaries: TOKEN_BOUNDS },
    });
  }

  record({ run, end }: Ended, { attributes, error, operation }: GenAiSpan): void {
    const provider = attributes['gen_ai.provider.name'];
    const common = {
      'gen_ai.operation.name': operation,
      ...(provider === undefined ? {} : { 'gen_ai.provider.name': provider }),
      'gen_ai.request.model': this.#models.of(run.model),
      ...(end.upstreamModel === null ? {} : { 'gen_ai.response.model': this.#models.of(end.upstreamModel) }),
    };
    this.#duration.record(durationOf(run, end) / 1000, error === undefined ? common : { ...common, 'error.type': error });
    if (end.firstByteMs !== null && end.eventCount > 1) this.#firstChunk.record(end.firstByteMs / 1000, common);
    if (end.usage === null) return;
    this.#tokens.record(end.usage.input_tokens, { ...common, 'gen_ai.token.type': 'input' });
    this.#tokens.record(end.usage.output_tokens, { ...common, 'gen_ai.token.type': 'output' });
  }

  async close(): Promise<void> {
    await this.#provider.shutdown();
  }
}
