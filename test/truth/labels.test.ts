import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { hardCases } from './hard-cases.ts';
import { tryAnswerLabels, tryRequestLabels, tryStreamLabels } from './labels.ts';
import { fixtureAnswers, fixtureRequests, fixtureStreams, TARGETS } from './sources.ts';
import { linesOf, newTally } from './tally.ts';

const requests = [...fixtureRequests(), ...hardCases()];
const answers = fixtureAnswers();
const streams = fixtureStreams();

describe.each(dialects.map(({ id }) => id))('the emulations of a call of %s', (from) => {
  test('are those of its fidelity record', () => {
    const tally = newTally();
    for (const sample of requests.filter((one) => one.from === from)) for (const target of TARGETS) tryRequestLabels(sample, target, tally);
    expect(tally.tried).toBeGreaterThan(100);
    expect(linesOf(tally)).toEqual([]);
  });

  test('are those of the record of its answer, in one piece and streamed', () => {
    const tally = newTally();
    for (const { id } of dialects) {
      for (const sample of answers.filter((one) => one.from === id)) tryAnswerLabels(sample, from, tally);
      for (const sample of streams.filter((one) => one.from === id)) tryStreamLabels(sample, from, tally);
    }
    expect(tally.tried).toBeGreaterThan(50);
    expect(linesOf(tally)).toEqual([]);
  });
});
