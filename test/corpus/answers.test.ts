import { beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { EngineStream } from '../../src/calls/answers/engine-stream.ts';
import { AbpError } from '../../src/contract/errors.ts';
import { dialects } from '../../src/dialects/index.ts';
import { EngineFailure } from '../../src/ir/engine-failure.ts';
import { Fold } from '../../src/ir/fold.ts';
import type { IrResponse } from '../../src/ir/response.ts';
import { type Exchange, exchangesOf, hasCorpus, NO_CORPUS } from '../support/corpus.ts';
import { dialectOf } from '../support/mapping.ts';
import { needing } from '../support/needs.ts';
import { type Descriptions, readDescriptions } from '../truth/descriptions.ts';

const FOLDERS: Readonly<Record<string, string>> = { claude: 'anthropic' };
const CALLERS = ['openai-chat', 'openai-responses', 'gemini'];
const CONTEXT = { runHex: '0'.repeat(32), createdAtMs: 0, model: 'm', includeUsage: true, query: '' };

/** The answer of an exchange in neutral words; undefined where it is an error or a list of something. */
function answerOf(engine: string, { stream, body, status }: Exchange): IrResponse | undefined {
  const dialect = dialectOf(engine);
  if (status >= 400 || (stream === undefined && body === undefined)) return undefined;
  if (stream === undefined) return lifted(engine, body ?? null);
  const read = new EngineStream(dialect.stepper());
  const fold = new Fold();
  for (const event of [...read.read(stream), ...read.rest()]) fold.push(event);
  if (fold.response() === undefined) for (const event of read.end()) fold.push(event);
  return fold.response();
}

function lifted(engine: string, body: Json): IrResponse | undefined {
  try {
    return dialectOf(engine).liftResponse(body);
  } catch (error) {
    // Some recorded answers are errors with a status of 200.
    if (AbpError.is(error) || error instanceof EngineFailure) return undefined;
    throw error;
  }
}

describe.skipIf(!hasCorpus)(needing('recorded answers for callers of other dialects', hasCorpus ? undefined : NO_CORPUS), () => {
  let descriptions: Descriptions;
  beforeAll(async () => {
    descriptions = await readDescriptions();
  });

  describe.each(dialects.map(({ id }) => id))('of %s', (engine) => {
    const answers = exchangesOf(FOLDERS[engine] ?? engine).flatMap((exchange): (readonly [string, IrResponse])[] => {
      const answer = answerOf(engine, exchange);
      return answer === undefined ? [] : [[exchange.id, answer]];
    });

    test('there are some', () => {
      expect(answers.length).toBeGreaterThan(5);
    });

    test.each(CALLERS.filter((id) => id !== engine))('are valid by the description of %s’s vendor', (caller) => {
      const found = answers.flatMap(([id, answer]) => {
        const body = JSON.parse(JSON.stringify(dialectOf(caller).lowerResponse(answer, CONTEXT))) as JsonObject; // as the caller reads it
        return (descriptions.answers.get(caller)?.(body) ?? []).map((complaint) => `${id}: ${complaint}`);
      });
      expect(found).toEqual([]);
    });
  });
});
