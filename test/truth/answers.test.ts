import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { tryAnswer, tryStream } from './answers.ts';
import { fixtureAnswers, fixtureStreams } from './sources.ts';
import { linesOf, newTally } from './tally.ts';

const pairs = dialects.flatMap((engine) => dialects.map((caller) => ({ engine: engine.id, caller: caller.id })));

describe('the account of an answer says what becomes of each leaf', () => {
  const samples = fixtureAnswers();

  test.each(pairs)('$engine → $caller', ({ engine, caller }) => {
    const tally = newTally();
    for (const sample of samples.filter(({ from }) => from === engine)) tryAnswer(sample, caller, tally);
    expect(tally.tried).toBeGreaterThan(0);
    expect(linesOf(tally)).toEqual([]);
  });
});

describe('the account of a stream leaves nothing out', () => {
  const samples = fixtureStreams();

  test.each(pairs)('$engine → $caller', ({ engine, caller }) => {
    const tally = newTally();
    for (const sample of samples.filter(({ from }) => from === engine)) tryStream(sample, caller, tally);
    expect(tally.tried).toBeGreaterThan(0);
    expect(linesOf(tally)).toEqual([]);
  });
});
