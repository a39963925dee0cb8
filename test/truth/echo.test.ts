import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { mapTo } from '../support/mapping.ts';
import { tryEcho } from './echo.ts';
import { fixtureAnswers, TARGETS } from './sources.ts';
import { linesOf, newTally } from './tally.ts';

const samples = fixtureAnswers();

describe.each(dialects.map(({ id }) => id))('an answer of %s, sent back as its SDK does', (from) => {
  test.each(TARGETS)('is served by $name', (target) => {
    const tally = newTally();
    for (const sample of samples.filter((one) => one.from === from)) tryEcho(sample, target, tally);
    expect(tally.tried).toBeGreaterThan(0);
    expect(linesOf(tally)).toEqual([]);
  });
});

const HI = [{ role: 'user', content: 'hi' }];

/** What the vendors document as a default, or write where nobody set anything. */
const DEFAULTS: readonly (readonly [from: string, body: object])[] = [
  ['claude', { model: 'm', max_tokens: 9, messages: HI, stop_sequences: [], container: null, speed: 'standard', tools: [], metadata: {} }],
  ['openai-chat', { model: 'm', messages: HI, reasoning_effort: 'none', stop: [], logit_bias: {}, n: 1, store: false, tools: [] }],
  ['openai-chat', { model: 'm', messages: [...HI, { role: 'assistant', content: 'a', provider_specific_fields: { x: 1 } }, ...HI] }],
  ['openai-responses', { model: 'm', input: 'hi', reasoning: {}, text: {}, include: [], metadata: {}, truncation: 'disabled', user: null }],
  ['gemini', { contents: [{ role: 'user', parts: [{ text: 'hi', thought: false }] }], labels: { a: 'b' }, safetySettings: [] }],
  [
    'gemini',
    {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW', thinkingConfig: { thinkingBudget: -1 }, stopSequences: [] },
    },
  ],
];

test.each(TARGETS)('what vendors say by default is served by $name', (target) => {
  const refused = DEFAULTS.flatMap(([from, body]) => {
    const { error } = mapTo(target, from, body as Parameters<typeof mapTo>[2]); // JSON values
    return error === undefined ? [] : [`${from}: ${error.message}`];
  });
  expect(refused).toEqual([]);
});

describe('limits of a hosted tool', () => {
  const search = (members: object) => ({
    model: 'm',
    max_tokens: 9,
    messages: HI,
    tools: [{ type: 'web_search_20250305', name: 'web_search', ...members }],
  });
  const responses = TARGETS.find(({ name }) => name === 'openai:openai-responses gpt-5.2');

  test('go along where the engine has them', () => {
    const location = { type: 'approximate', city: 'Paris' };
    const body = search({ allowed_domains: ['a.example'], user_location: location });
    const { upstream, fidelity } = mapTo(responses as never, 'claude', body as never); // found above; JSON values
    expect(upstream?.body.tools).toEqual([{ type: 'web_search', filters: { allowed_domains: ['a.example'] }, user_location: location }]);
    expect(fidelity.find(({ path }) => path === 'tools[*].allowed_domains[*]')).toMatchObject({
      fate: 'renamed',
      note: 'filters.allowed_domains',
    });
  });

  test.each([{ blocked_domains: ['b.example'] }, { max_uses: 3 }])('are E001 where it has not: %j', (limit) => {
    const { error } = mapTo(responses as never, 'claude', search(limit) as never); // as above
    expect(error).toMatchObject({ code: 'E001', details: { feature: 'hosted_limit' } });
  });
});
