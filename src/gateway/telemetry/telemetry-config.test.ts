import { expect, it } from 'vitest';
import { metricsAddress, TelemetryConfig, tracesAddress, withOtelVariables } from './telemetry-config.ts';

const addresses = (config: object, env: Record<string, string>): (string | undefined)[] => {
  const told = withOtelVariables(TelemetryConfig.parse(config), env);
  return [tracesAddress(told), metricsAddress(told)];
};

it('nothing is sent anywhere unless somebody says where', () => {
  expect(addresses({}, {})).toEqual([undefined, undefined]);
});

it('the variables of OpenTelemetry go over the file', () => {
  expect(addresses({ otlp_endpoint: 'http://file:4318' }, {})).toEqual(['http://file:4318/v1/traces', 'http://file:4318/v1/metrics']);
  expect(addresses({ otlp_endpoint: 'http://file:4318' }, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://env:4318/' })).toEqual([
    'http://env:4318/v1/traces',
    'http://env:4318/v1/metrics',
  ]);
  expect(addresses({}, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://env/t' })).toEqual(['http://env/t', undefined]);
});

it('each signal can be turned off', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://env:4318' };
  expect(addresses({}, { ...endpoint, OTEL_SDK_DISABLED: 'true' })).toEqual([undefined, undefined]);
  expect(addresses({}, { ...endpoint, OTEL_METRICS_EXPORTER: 'none' })).toEqual(['http://env:4318/v1/traces', undefined]);
});

it('a sampler that nobody knows is an error that names it', () => {
  expect(() => withOtelVariables(TelemetryConfig.parse({}), { OTEL_TRACES_SAMPLER: 'mine' })).toThrow('sampler');
});
