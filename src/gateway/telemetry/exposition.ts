import type { Metric, Registry } from 'prom-client';
import type { Gateway } from '../gateway.ts';
import { METRICS, type MetricRow } from './metric-table.ts';
import { type Readings, readings } from './readings.ts';

/** The metrics of a server in the text format of Prometheus. The library that writes it is loaded with the first question. */
export class Exposition {
  readonly #gateway: Gateway;
  #registry: Promise<Registry> | undefined;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  async text(): Promise<string> {
    this.#registry ??= registryOf(() => readings(this.#gateway));
    return await (await this.#registry).metrics();
  }
}

async function registryOf(read: () => Readings): Promise<Registry> {
  const { collectDefaultMetrics, Registry: PromRegistry } = await import('prom-client');
  const registry = new PromRegistry();
  collectDefaultMetrics({ register: registry });
  // One reading for all metrics of one answer.
  let current: Readings | undefined;
  const shared = (): Readings => {
    if (current === undefined) {
      current = read();
      queueMicrotask(() => {
        current = undefined;
      });
    }
    return current;
  };
  for (const [key, row] of Object.entries(METRICS)) registry.registerMetric(metricOf(row, () => shared()[key as keyof typeof METRICS])); // the keys of the table
  return registry;
}

/** A metric whose numbers are kept elsewhere. */
function metricOf({ name, help, type }: MetricRow, values: () => readonly object[]): Metric {
  const metric = { name, help, type, get: async () => ({ name, help, type, values: values(), aggregator: 'sum' }) };
  // A registry asks a metric for its name and for `get`, nothing else.
  return metric as unknown as Metric;
}
