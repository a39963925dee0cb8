import type { JsonObject } from '../../base/json.ts';
import { CliError } from '../failure.ts';
import { count, optional } from '../parameter.ts';

const NANO = 1e9;

/** Limits as options: dollars for people, the rest as it is. */
export const LIMIT_OPTIONS = {
  usd: optional('--usd <dollars>', 'US dollars, such as 20 or 0.5'),
  tokens: count('--tokens <number>', 'tokens, sent and answered'),
  requests: count('--requests <number>', 'calls to engines'),
};

export interface GivenLimits {
  readonly usd: string | undefined;
  readonly tokens: number | undefined;
  readonly requests: number | undefined;
}

/** Limits in the words of the API. */
export function limitsOf({ usd, tokens, requests }: GivenLimits): JsonObject {
  return {
    ...(usd === undefined ? {} : { limit_nano_usd: nanoUsd(usd) }),
    ...(tokens === undefined ? {} : { limit_tokens: tokens }),
    ...(requests === undefined ? {} : { limit_requests: requests }),
  };
}

function nanoUsd(dollars: string): number {
  const nano = /^\d+(?:\.\d+)?$/.test(dollars) ? Math.round(Number(dollars) * NANO) : 0;
  if (nano > 0 && Number.isSafeInteger(nano)) return nano;
  throw new CliError('usage', `'${dollars}' is not an amount of dollars`, { hint: 'Give a number above 0, such as 20 or 0.5.' });
}

/** `$1.25`, with as many digits as a small amount needs. */
export function dollars(nano: number): string {
  const value = nano / NANO;
  return `$${value === 0 || value >= 0.01 ? value.toFixed(2) : value.toPrecision(2)}`;
}
