import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { type FateCount, tryFates } from './fates.ts';
import { fixtureRequests, TARGETS } from './sources.ts';

/** One leaf in so many is changed here; `npm run truth` changes all of them, those of recorded requests too. */
const STEP = 5;

const samples = fixtureRequests();

describe.each(dialects.map(({ id }) => id))('the record of a request of %s', (from) => {
  test.each(TARGETS)('says of each field what happens to it on $name', (target) => {
    const count: FateCount = { tried: 0, wrong: [] };
    for (const [at, sample] of samples.filter((one) => one.from === from).entries()) {
      tryFates(sample, target, count, (leaf) => (leaf + at) % STEP === 0);
    }
    expect(count.tried).toBeGreaterThan(0);
    expect(count.wrong.map(({ sample, path, fate }) => `${sample}: ${path} is not ${fate}`)).toEqual([]);
  });
});
