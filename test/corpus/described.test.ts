import { beforeAll, describe, expect, test } from 'vitest';
import { hasCorpus, NO_CORPUS } from '../support/corpus.ts';
import { needing } from '../support/needs.ts';
import { describedAnswers, describedRequests } from '../truth/described.ts';
import { tryEcho } from '../truth/echo.ts';
import { tryFates, vocabularyOf } from '../truth/fates.ts';
import { type SampleAnswer, type SampleRequest, TARGETS } from '../truth/sources.ts';
import { linesOf, newTally } from '../truth/tally.ts';

/** One in so many is tried here, all of them by `npm run truth`. */
const STEP = 18;

describe.skipIf(!hasCorpus)(needing('what the vendors describe', hasCorpus ? undefined : NO_CORPUS), () => {
  let answers: SampleAnswer[];
  let requests: SampleRequest[];
  beforeAll(async () => {
    answers = await describedAnswers();
    requests = await describedRequests();
  });

  test('answers with parts of every kind, sent back as they came, are served by every engine', () => {
    const tally = newTally();
    for (const [at, sample] of answers.entries())
      for (const [number, target] of TARGETS.entries()) if ((at + number) % STEP === 0) tryEcho(sample, target, tally);
    expect(tally.tried).toBeGreaterThan(1000);
    expect(linesOf(tally)).toEqual([]);
  });

  test('members of requests have the fate that the record says', () => {
    const tally = newTally();
    const words = vocabularyOf(requests);
    for (const [at, sample] of requests.entries())
      for (const [number, target] of TARGETS.entries())
        if ((at + number) % STEP === 0 && target.dialect.id !== sample.from) tryFates(sample, target, tally, { words });
    expect(tally.tried).toBeGreaterThan(1000);
    expect(linesOf(tally)).toEqual([]);
  });
});
