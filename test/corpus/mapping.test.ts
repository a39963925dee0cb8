import { beforeAll, describe, expect, test } from 'vitest';
import { hasCorpus, NO_CORPUS } from '../support/corpus.ts';
import { mapTo, OPTED_IN } from '../support/mapping.ts';
import { needing } from '../support/needs.ts';
import { type Descriptions, readDescriptions } from '../truth/descriptions.ts';
import { CORPUS, recordedRequests, TARGETS } from '../truth/sources.ts';
import { linesOf, newTally } from '../truth/tally.ts';
import { tryValidity } from '../truth/validity.ts';

/** One in so many is tried here, all of them by `npm run truth`. */
const STEP = 4;

describe.skipIf(!hasCorpus)(needing('recorded requests on other engines', hasCorpus ? undefined : NO_CORPUS), () => {
  let descriptions: Descriptions;
  beforeAll(async () => {
    descriptions = await readDescriptions();
  });
  const all = recordedRequests();

  describe.each(Object.keys(CORPUS))('%s', (from) => {
    const samples = all.filter((sample) => sample.from === from);

    test('there are enough of them to mean something', () => {
      expect(samples.length).toBeGreaterThanOrEqual(CORPUS[from]?.least ?? 0);
    });

    test.each(TARGETS.filter(({ dialect }) => dialect.id !== from))(
      'each is the engine’s own request or a typed refusal on $name',
      (target) => {
        const tally = newTally();
        for (const [at, sample] of samples.entries()) if (at % STEP === 0) tryValidity(sample, target, descriptions.requests, tally);
        expect(linesOf(tally)).toEqual([]);
      },
    );

    test.each(TARGETS.filter(({ dialect }) => dialect.id !== from))('some of them reach $name', (target) => {
      const sent = samples.filter(({ body, address }) => mapTo(target, from, body, { emulate: OPTED_IN, address }).upstream !== undefined);
      expect(sent.length).toBeGreaterThan(0);
    });
  });
});
