import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { decodeSse, SseFrames } from '../../src/base/sse.ts';
import { dialectCases } from '../../src/conformance/cases/index.ts';
import type { Voice } from '../../src/conformance/voice.ts';
import { type Fixture, fixturesOf } from './dialect-fixtures.ts';

/** Fixtures in which the vendor itself leaves the plain path, with the reason. */
const ODD: Readonly<Record<string, string>> = {
  'openai-chat/custom-tool': 'a custom tool takes free text; the cases declare functions',
  'openai-responses/coding-agent': 'the vendor’s backend for its own agent repeats no items at the end',
  'openai-chat/content-parts': 'engines such as Mistral write the content as a list; the vendor itself does not',
  'openai-chat/several-answers': 'the cases ask for one answer',
  'gemini/several-answers': 'the cases ask for one answer',
  'gemini/blocked': 'a blocked prompt has no candidate',
  'gemini/parallel-tools': 'arguments in pieces come only to callers that ask for them',
  'kimi/parallel-tools': 'every call has the number 0, and callers tell them apart by their ids',
  'copilot/two-choices': 'the text and the calls are choices of their own',
};

function problemsOfStream(voice: Voice, fixture: Fixture): readonly string[] {
  const frames = new SseFrames();
  const found = [...frames.push(fixture.stream ?? Buffer.alloc(0)), ...frames.flush()].map(decodeSse);
  const folded = voice.fold(found);
  return [...folded.problems, ...voice.read(folded.body).problems];
}

const bodyOf = (fixture: Fixture): JsonObject => (isJsonObject(fixture.response) ? fixture.response : {});

describe.each(dialectCases.map(({ voice }) => ({ voice, id: voice.id })))('the voice of $id', ({ voice, id }) => {
  const known = fixturesOf(id).filter(({ name }) => name !== 'error' && ODD[`${id}/${name}`] === undefined);

  it.each(known.filter(({ response }) => response !== undefined))('finds nothing wrong with the vendor’s answer: $name', (fixture) => {
    expect(voice.read(bodyOf(fixture)).problems).toEqual([]);
  });

  it.each(known.filter(({ stream }) => stream !== undefined))('finds nothing wrong with the vendor’s stream: $name', (fixture) => {
    expect(problemsOfStream(voice, fixture)).toEqual([]);
  });

  it('finds a stream wrong that ended in an error', () => {
    const failed = fixturesOf(id).filter(({ name, stream }) => name === 'error' && stream !== undefined);
    for (const fixture of failed) expect(problemsOfStream(voice, fixture)).not.toEqual([]);
  });
});
