import type { JsonObject } from '../../base/json.ts';
import { count } from '../parameter.ts';

/** Limits of keys and teams as options. */
export const LIMIT_OPTIONS = {
  requestsPerMinute: count('--requests-per-minute <number>', 'calls to engines in any minute (default as the server is configured)'),
  tokensPerMinute: count('--tokens-per-minute <number>', 'tokens in any minute, sent and answered'),
  concurrency: count('--concurrency <number>', 'calls to engines at the same time'),
};

export interface GivenLimits {
  readonly requestsPerMinute: number | undefined;
  readonly tokensPerMinute: number | undefined;
  readonly concurrency: number | undefined;
}

/** Limits in the words of the API. */
export function limitsOf({ requestsPerMinute, tokensPerMinute, concurrency }: GivenLimits): JsonObject {
  return {
    ...(requestsPerMinute === undefined ? {} : { requests_per_minute: requestsPerMinute }),
    ...(tokensPerMinute === undefined ? {} : { tokens_per_minute: tokensPerMinute }),
    ...(concurrency === undefined ? {} : { concurrency }),
  };
}
