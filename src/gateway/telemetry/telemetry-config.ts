import { z } from 'zod';
import { parseAt } from '../../contract/border.ts';

/** `[metrics]` of the configuration. */
export const MetricsConfig = z.strictObject({
  host: z
    .string()
    .default('127.0.0.1')
    .describe('Address of a port that serves GET /metrics and nothing else, without a key, to everybody who reaches it.'),
  port: z
    .int()
    .min(0)
    .max(65535)
    .optional()
    .describe('That port. Without it /metrics is on the server’s own port alone: for callers on this machine, the token and admin keys.'),
  models: z.int().min(0).max(10_000).default(50).describe('Models that have numbers of their own; the others share the name other.'),
});

const address = z.url({ protocol: /^https?$/ });

/** `[telemetry]` of the configuration, over which the standard variables of OpenTelemetry go. */
export const TelemetryConfig = z.strictObject({
  otlp_endpoint: address
    .optional()
    .describe('Collector of OpenTelemetry (OTLP over HTTP, JSON) that gets traces and metrics, such as http://127.0.0.1:4318.'),
  traces_endpoint: address.optional().describe('The whole address for traces, where it is another one.'),
  metrics_endpoint: address.optional().describe('The whole address for metrics, where it is another one.'),
  traces: z.boolean().default(true).describe('Whether a collector gets traces.'),
  metrics: z.boolean().default(true).describe('Whether a collector gets metrics.'),
  sampler: z
    .enum(['always_on', 'always_off', 'traceidratio', 'parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'])
    .default('parentbased_always_on')
    .describe('Which traces are kept.'),
  sample_ratio: z.number().min(0).max(1).default(1).describe('The part of all traces that a sampler of the kind traceidratio keeps.'),
  service_name: z.string().min(1).default('agent-backplane').describe('What this service is called in traces and metrics.'),
});
export type TelemetryConfig = z.infer<typeof TelemetryConfig>;

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that every program with OpenTelemetry reads. Those of the exporter (headers, timeout, compression, certificates) are read by it. */
const VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: 'otlp_endpoint',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'traces_endpoint',
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'metrics_endpoint',
  OTEL_TRACES_SAMPLER: 'sampler',
  OTEL_SERVICE_NAME: 'service_name',
} as const satisfies Readonly<Record<string, keyof TelemetryConfig>>;

/** The configuration with what the environment says. */
export function withOtelVariables(config: TelemetryConfig, env: Environment): TelemetryConfig {
  const given = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const said = Object.entries(VARIABLES).flatMap(([name, member]) => (given(name) === undefined ? [] : [[member, given(name)]]));
  const ratio = given('OTEL_TRACES_SAMPLER_ARG');
  const isOff = (exporter: string): boolean => given('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || given(exporter) === 'none';
  const merged = {
    ...config,
    ...Object.fromEntries(said),
    ...(ratio === undefined ? {} : { sample_ratio: Number(ratio) }),
    ...(isOff('OTEL_TRACES_EXPORTER') ? { traces: false } : {}),
    ...(isOff('OTEL_METRICS_EXPORTER') ? { metrics: false } : {}),
  };
  return parseAt(TelemetryConfig, merged, 'what the OTEL_ variables say');
}

/** Where traces go; undefined where nobody collects them. */
export function tracesAddress({ traces, traces_endpoint: whole, otlp_endpoint: base }: TelemetryConfig): string | undefined {
  return traces ? (whole ?? signalAddress(base, 'traces')) : undefined;
}

/** Where metrics go; undefined where nobody collects them. */
export function metricsAddress({ metrics, metrics_endpoint: whole, otlp_endpoint: base }: TelemetryConfig): string | undefined {
  return metrics ? (whole ?? signalAddress(base, 'metrics')) : undefined;
}

function signalAddress(base: string | undefined, signal: string): string | undefined {
  return base === undefined ? undefined : `${base.replace(/\/$/, '')}/v1/${signal}`;
}
