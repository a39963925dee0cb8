import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { mapTo, OPTED_IN, targetOf } from '../support/mapping.ts';
import { complaintsOf, tryAcceptable } from './acceptable.ts';
import { hardCases, thoughtfulCases } from './hard-cases.ts';
import { fixtureRequests, TARGETS } from './sources.ts';
import { linesOf, newTally } from './tally.ts';

const samples = [...fixtureRequests(), ...hardCases(), ...thoughtfulCases()];

describe.each(dialects.map(({ id }) => id))('what a request of %s becomes', (from) => {
  test.each(TARGETS.filter(({ dialect }) => dialect.id !== from))('keeps the unwritten rules of $name', (target) => {
    const tally = newTally();
    for (const sample of samples.filter((one) => one.from === from)) tryAcceptable(sample, target, tally);
    expect(tally.tried).toBeGreaterThan(0);
    expect(linesOf(tally)).toEqual([]);
  });
});

test('every hard case is served, or is none at its own vendor either', () => {
  const refused = hardCases().flatMap(({ id, from, body, address }) =>
    TARGETS.flatMap((target) => {
      const { error } = mapTo(target, from, body, { emulate: OPTED_IN, address });
      return error === undefined || error.code === 'invalid_request' ? [] : [`${id} on ${target.name}: ${error.message}`];
    }),
  );
  expect(refused).toEqual([]);
});

describe('a strict tool outside of the engine’s subset', () => {
  const tool = { name: 'look', input_schema: { type: 'object', properties: { a: { type: 'string' } } }, strict: true };
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], tools: [tool] };

  test('is sent without the word, and the receipt says so', () => {
    const { upstream, fidelity, emulations } = mapTo(targetOf('openai:openai-chat', 'gpt-4o'), 'claude', body);
    expect(upstream?.body.tools).toMatchObject([{ function: { strict: false } }]);
    expect(fidelity.find(({ path }) => path === 'tools[0].strict')).toMatchObject({ fate: 'emulated', code: 'strict_not_held' });
    expect(emulations).toMatchObject([{ capability: 'tool_use', strategy: { type: 'post_processing' } }]);
  });

  test('is refused in strict', () => {
    const { error } = mapTo(targetOf('openai:openai-chat', 'gpt-4o'), 'claude', body, { compatibility: 'strict' });
    expect(error).toMatchObject({ code: 'E006', details: { cause: 'REQUIRES_NATIVE' } });
  });

  test('is found by the rules of this suite', () => {
    const sent = {
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'function', function: { name: 'look', parameters: tool.input_schema, strict: true } }],
    };
    expect(complaintsOf('openai-chat', sent)).toEqual(['look: strict with an open schema']);
  });
});
