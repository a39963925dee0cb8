import { describe, expect, it } from 'vitest';
import { adapters } from '../../src/adapters/index.ts';
import { dialects } from '../../src/dialects/index.ts';

const KNOWN: readonly string[] = dialects.map(({ id }) => id);

/** An agent without a dialect speaks to a service of its own, and never through the gateway. */
const served = adapters.filter(({ traffic }) => traffic.dialects.length > 0);

describe.each(served.map((adapter) => [adapter.agent, adapter.traffic] as const))('the traffic of %s', (_, traffic) => {
  it('is in dialects that the gateway serves, its own one first', () => {
    expect(traffic.dialects.filter((dialect) => !KNOWN.includes(dialect))).toEqual([]);
    expect(traffic.dialects[0]).toBe(traffic.dialect);
  });

  it('names each thing once, with a reason', () => {
    expect(new Set(traffic.rows.map(({ feature }) => feature)).size).toBe(traffic.rows.length);
    expect(traffic.rows.filter(({ reason, path }) => reason === '' || path === '')).toEqual([]);
  });
});
