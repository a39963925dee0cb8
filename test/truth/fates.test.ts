import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { tryFates, tryStrangers } from './fates.ts';
import { programCases } from './program-cases.ts';
import { fixtureRequests, TARGETS } from './sources.ts';
import { linesOf, newTally } from './tally.ts';

/** One leaf in so many is changed here; `npm run truth` changes all of them, those of recorded requests too. */
const STEP = 5;

const samples = [...fixtureRequests(), ...programCases()];

describe.each(dialects.map(({ id }) => id))('the record of a request of %s', (from) => {
  test.each(TARGETS)('says of each field what happens to it on $name', (target) => {
    const tally = newTally();
    for (const [at, sample] of samples.filter((one) => one.from === from).entries()) {
      tryFates(sample, target, tally, { picked: (leaf) => (leaf + at) % STEP === 0 });
    }
    expect(tally.tried).toBeGreaterThan(0);
    expect(linesOf(tally)).toEqual([]);
  });

  test.each(TARGETS)('says of a member that nobody knows what happens to it on $name, in whatever object it stands', (target) => {
    const tally = newTally();
    for (const sample of samples.filter((one) => one.from === from)) tryStrangers(sample, target, tally);
    expect(linesOf(tally)).toEqual([]);
  });
});
