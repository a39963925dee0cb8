import type { TelemetryConfig } from './telemetry-config.ts';
import type { Sampling } from './trace-contexts.ts';

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
