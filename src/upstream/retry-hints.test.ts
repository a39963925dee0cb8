import { expect, it } from 'vitest';
import { retryAfterMs } from './retry-hints.ts';

const NOW = Date.UTC(2026, 10, 16, 12, 0, 0);

const HINTS: readonly {
  readonly name: string;
  readonly headers: readonly string[];
  readonly ms: number | undefined;
  readonly status?: number;
}[] = [
  { name: 'seconds', headers: ['Retry-After', '7'], ms: 7000 },
  { name: 'milliseconds, which are more exact than seconds', headers: ['retry-after', '1', 'retry-after-ms', '320'], ms: 320 },
  { name: 'a date', headers: ['retry-after', 'Mon, 16 Nov 2026 12:00:30 GMT'], ms: 30_000 },
  { name: 'a date that has passed', headers: ['retry-after', 'Mon, 16 Nov 2026 11:00:30 GMT'], ms: 0 },
  {
    name: 'OpenAI’s reset of the limit that is used up',
    headers: ['x-ratelimit-remaining-requests', '12', 'x-ratelimit-reset-requests', '9s', 'x-ratelimit-remaining-tokens', '0'].concat(
      'x-ratelimit-reset-tokens',
      '6m0.5s',
    ),
    ms: 360_500,
  },
  {
    name: 'the first reset where nothing is used up: the call was too large for what is left',
    headers: ['x-ratelimit-remaining-requests', '2', 'x-ratelimit-reset-requests', '30s', 'x-ratelimit-remaining-tokens', '80'].concat(
      'x-ratelimit-reset-tokens',
      '250ms',
    ),
    ms: 250,
  },
  {
    name: 'Claude’s time of the reset',
    headers: ['anthropic-ratelimit-input-tokens-remaining', '0', 'anthropic-ratelimit-input-tokens-reset', '2026-11-16T12:00:20Z'],
    ms: 20_000,
  },
  { name: 'seconds since 1970', headers: ['x-ratelimit-reset', String(NOW / 1000 + 5)], ms: 5000 },
  { name: 'an hour at most', headers: ['retry-after', '86400'], ms: 3_600_000 },
  { name: 'nothing that can be read', headers: ['retry-after', 'soon', 'x-ratelimit-reset-requests', ''], ms: undefined },
  { name: 'seconds, of a server that failed', status: 529, headers: ['retry-after', '7'], ms: 7000 },
  {
    name: 'no limit of a server that failed, which tells them with every answer',
    status: 500,
    headers: [
      'x-ratelimit-remaining-tokens',
      '29000',
      'x-ratelimit-reset-tokens',
      '6ms',
      'anthropic-ratelimit-requests-remaining',
      '0',
    ].concat('anthropic-ratelimit-requests-reset', '2026-11-16T12:00:20Z'),
    ms: undefined,
  },
  { name: 'nothing', headers: ['content-type', 'application/json'], ms: undefined },
];

it.each(HINTS)('the pause that an engine asks for is read from $name', ({ headers, ms, status = 429 }) => {
  expect(retryAfterMs(status, headers, NOW)).toBe(ms);
});
