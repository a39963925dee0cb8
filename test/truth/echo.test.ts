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

  /** Limits in the words of every dialect that has some, and what must not get lost. */
  const LIMITED: readonly (readonly [from: string, members: object, kept: string])[] = [
    ...[
      { allowed_domains: ['kept.example'] },
      { blocked_domains: ['kept.example'] },
      { user_location: { type: 'approximate', city: 'kept.example' } },
    ].map((members) => ['claude', search(members), 'kept.example'] as const),
    ['claude', search({ max_uses: 777 }), '777'],
    [
      'claude',
      { ...search({}), tools: [{ type: 'web_fetch_20250910', name: 'web_fetch', blocked_domains: ['kept.example'] }] },
      'kept.example',
    ],
    ...[
      { filters: { allowed_domains: ['kept.example'] } },
      { filters: { blocked_domains: ['kept.example'] } },
      { novelty: 'kept.example' },
    ].map(
      (members) => ['openai-responses', { model: 'm', input: 'hi', tools: [{ type: 'web_search', ...members }] }, 'kept.example'] as const,
    ),
    [
      'openai-responses',
      { model: 'm', input: 'hi', tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['kept_file'] } }] },
      'kept_file',
    ],
    [
      'openai-chat',
      { model: 'm', messages: HI, web_search_options: { user_location: { type: 'approximate', approximate: { city: 'Kept' } } } },
      'Kept',
    ],
    ...[
      { googleSearch: { excludeDomains: ['kept.example'] } },
      { googleSearch: { timeRangeFilter: { startTime: 'kept.example' } } },
      { googleSearchRetrieval: { dynamicRetrievalConfig: { mode: 'kept.example' } } },
    ].map((tool) => ['gemini', { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], tools: [tool] }, 'kept.example'] as const),
  ];

  test.each(TARGETS)('reach $name or are refused', (target) => {
    const lost = LIMITED.filter(([from, body, kept]) => {
      const { upstream } = mapTo(target, from, body as Parameters<typeof mapTo>[2]); // JSON values
      return upstream !== undefined && !JSON.stringify(upstream.body).includes(kept);
    });
    expect(lost).toEqual([]);
  });

  test.each([{ blocked_domains: ['b.example'] }, { max_uses: 3 }])('are E001 where it has not: %j', (limit) => {
    const { error } = mapTo(responses as never, 'claude', search(limit) as never); // as above
    expect(error).toMatchObject({ code: 'E001', details: { feature: 'hosted_limit' } });
  });
});
