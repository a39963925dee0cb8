import { findProvider } from '@pydantic/genai-prices';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { encodeSse } from '../../base/sse.ts';
import { findDialect } from '../../dialects/index.ts';
import { addUsage, LENGTHS, NO_USAGE } from '../../ir/usage.ts';
import { toldUsage } from './told-usage.ts';

const NONE = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  thinking_tokens: 0,
  web_search_requests: 0,
  estimated: false,
};

const message = { id: 'm', type: 'message', role: 'assistant', model: 'claude-sonnet-4-6', content: [], stop_reason: 'end_turn' };
const response = { id: 'r', object: 'response', status: 'completed', model: 'gpt-5-mini', output: [] };
const completion = {
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }],
};
const searched = (...actions: (JsonObject | null)[]): JsonObject[] =>
  actions.map((action, at) => ({ type: 'web_search_call', id: `ws_${at}`, status: 'completed', ...(action === null ? {} : { action }) }));

/** The body of an answer as its vendor writes it, and what its receipt counts. */
const ANSWERS: readonly (readonly [what: string, dialect: string, body: JsonObject, usage: JsonObject])[] = [
  [
    'the summary of a compaction, which Claude leaves out of its sums',
    'claude',
    {
      ...message,
      usage: {
        input_tokens: 682,
        output_tokens: 1320,
        iterations: [
          {
            type: 'compaction',
            input_tokens: 60_000,
            output_tokens: 592,
            cache_read_input_tokens: 300,
            cache_creation_input_tokens: 85,
            cache_creation: { ephemeral_1h_input_tokens: 80 },
          },
          { type: 'message', input_tokens: 682, output_tokens: 1320 },
        ],
      },
    },
    {
      input_tokens: 61_067,
      output_tokens: 1912,
      cache_read_tokens: 300,
      cache_write_tokens: 85,
      details: { cache_write_1h_tokens: 80 },
    },
  ],
  [
    'passes of a call with server tools, some of them long',
    'claude',
    {
      ...message,
      usage: {
        input_tokens: 400_000,
        output_tokens: 300,
        iterations: [
          { type: 'message', input_tokens: 90_000, output_tokens: 100 },
          { type: 'message', input_tokens: 100_000, output_tokens: 100 },
          { type: 'message', input_tokens: 210_000, output_tokens: 100 },
        ],
      },
    },
    {
      input_tokens: 400_000,
      output_tokens: 300,
      details: {
        passes: [
          { count: 2, input_tokens: 190_000, output_tokens: 200 },
          { count: 1, input_tokens: 210_000, output_tokens: 100 },
        ],
      },
    },
  ],
  [
    'passes that are not all that the sums are made of, which are not held against them',
    'claude',
    {
      ...message,
      usage: {
        input_tokens: 400_000,
        output_tokens: 300,
        iterations: [
          { type: 'message', input_tokens: 90_000, output_tokens: 100 },
          { type: 'message', input_tokens: 100_000, output_tokens: 100 },
        ],
      },
    },
    { input_tokens: 400_000, output_tokens: 300 },
  ],
  [
    'searches of the preview',
    'openai-responses',
    {
      ...response,
      model: 'gpt-4.1-mini',
      tools: [{ type: 'web_search_preview' }],
      output: searched({ type: 'search', query: 'x' }),
      usage: { input_tokens: 347, output_tokens: 540 },
    },
    { input_tokens: 347, output_tokens: 540, web_search_requests: 1, details: { preview_searches: 1 } },
  ],
  [
    'a model of Chat that searches before each answer, cited or not',
    'openai-chat',
    { ...completion, model: 'gpt-4o-search-preview-2025-03-11', usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } },
    { input_tokens: 7, output_tokens: 3, web_search_requests: 1, details: { preview_searches: 1 } },
  ],
  [
    'an advisor, which is another model',
    'claude',
    {
      ...message,
      usage: {
        input_tokens: 2414,
        output_tokens: 3200,
        iterations: [{ type: 'advisor_message', model: 'claude-opus-4-7', input_tokens: 2728, output_tokens: 874 }],
      },
    },
    {
      input_tokens: 2414,
      output_tokens: 3200,
      details: { other_models: [{ model: 'claude-opus-4-7', input_tokens: 2728, output_tokens: 874 }] },
    },
  ],
  [
    'a picture that another model drew',
    'openai-responses',
    {
      ...response,
      usage: { input_tokens: 10, output_tokens: 5 },
      tools: [{ type: 'image_generation', model: 'gpt-image-1.5' }],
      tool_usage: {
        image_gen: {
          input_tokens: 50,
          input_tokens_details: { image_tokens: 40, text_tokens: 10 },
          output_tokens: 1000,
          output_tokens_details: { image_tokens: 1000, text_tokens: 0 },
        },
      },
    },
    {
      input_tokens: 10,
      output_tokens: 5,
      details: {
        other_models: [
          { model: 'gpt-image-1.5', input_tokens: 50, image_input_tokens: 40, output_tokens: 1000, image_output_tokens: 1000 },
        ],
      },
    },
  ],
  [
    'no picture, where none was drawn',
    'openai-responses',
    { ...response, usage: { input_tokens: 10, output_tokens: 5 }, tool_usage: { image_gen: { input_tokens: 0, output_tokens: 0 } } },
    { input_tokens: 10, output_tokens: 5 },
  ],
  [
    'searches, not pages that were opened or read through',
    'openai-responses',
    {
      ...response,
      usage: { input_tokens: 10, output_tokens: 5 },
      output: searched({ type: 'search', query: 'q' }, { type: 'open_page', url: 'u' }, { type: 'find_in_page', pattern: 'p' }, null),
    },
    { input_tokens: 10, output_tokens: 5, web_search_requests: 2 },
  ],
  [
    'reasoning that xAI counts beside what was written',
    'openai-chat',
    {
      ...completion,
      usage: { prompt_tokens: 32, completion_tokens: 9, total_tokens: 135, completion_tokens_details: { reasoning_tokens: 94 } },
    },
    { input_tokens: 32, output_tokens: 103, thinking_tokens: 94 },
  ],
  [
    'reasoning that OpenAI counts as part of it',
    'openai-chat',
    {
      ...completion,
      usage: { prompt_tokens: 32, completion_tokens: 103, total_tokens: 135, completion_tokens_details: { reasoning_tokens: 94 } },
    },
    { input_tokens: 32, output_tokens: 103, thinking_tokens: 94 },
  ],
  [
    'the cache, in the word of DeepSeek',
    'openai-chat',
    { ...completion, usage: { prompt_tokens: 30, completion_tokens: 1, prompt_cache_hit_tokens: 20, prompt_cache_miss_tokens: 10 } },
    { input_tokens: 30, output_tokens: 1, cache_read_tokens: 20 },
  ],
  [
    'a prompt that was answered with a map',
    'gemini',
    {
      candidates: [
        {
          content: { parts: [{ text: 'There.' }] },
          finishReason: 'STOP',
          groundingMetadata: { groundingChunks: [{ maps: { uri: 'u' } }, { maps: { uri: 'v' } }] },
        },
      ],
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2 },
    },
    { input_tokens: 4, output_tokens: 2, details: { map_searches: 1 } },
  ],
];

it.each(ANSWERS)('a receipt counts %s', (_, dialect, body, usage) => {
  expect(toldUsage(findDialect(dialect)?.observeBody(JSON.stringify(body)).usage)).toEqual({ ...NONE, ...usage });
});

it('counts what Groq tells a caller of a stream who did not ask for it', () => {
  const observer = findDialect('openai-chat')?.observeStream();
  const chunk = { id: 'c', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
  observer?.frame(Buffer.from(encodeSse({ data: JSON.stringify({ ...chunk, x_groq: { id: 'r', usage } }) })));
  expect(toldUsage(observer?.done().usage)).toEqual({ ...NONE, input_tokens: 7, output_tokens: 3 });
});

it('counts no number that a usage cannot have, in what other models used either', () => {
  const told = toldUsage({
    inputTokens: 1,
    outputTokens: 1,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    thinkingTokens: 0,
    webSearchRequests: 0,
    details: { beside: [{ model: 'm', inputTokens: -1, outputTokens: 1e12 }] },
  });
  expect(told?.details?.other_models).toEqual([{ model: 'm', input_tokens: 0, output_tokens: 0 }]);
});

it('counts a stream of the Interactions API by its last event', () => {
  const observer = findDialect('gemini')?.observeStream();
  const interaction = { id: 'i', model: 'gemini-2.5-flash' };
  for (const event of [
    { event_type: 'interaction.start', interaction },
    { event_type: 'content.delta', index: 0, delta: { type: 'text', text: 'hi' } },
    { event_type: 'interaction.complete', interaction: { ...interaction, usage: { total_input_tokens: 100, total_output_tokens: 10 } } },
  ])
    observer?.frame(Buffer.from(encodeSse({ data: JSON.stringify(event) })));
  const { model, finish, usage } = observer?.done() ?? {};
  expect([model, finish, toldUsage(usage)]).toEqual(['gemini-2.5-flash', 'stop', { ...NONE, input_tokens: 100, output_tokens: 10 }]);
});

it('names the model of a stream of the Interactions API that broke off', () => {
  const observer = findDialect('gemini')?.observeStream();
  for (const event of [{ interaction: { id: 'i', model: 'gemini-2.5-flash' } }, { delta: { type: 'text', text: 'hi' } }])
    observer?.frame(Buffer.from(encodeSse({ data: JSON.stringify(event) })));
  expect([observer?.done().model, observer?.done().usage]).toEqual(['gemini-2.5-flash', undefined]);
});

it('lists become dearer only from lengths by which passes are told apart', () => {
  const listed = ['anthropic', 'openai', 'google'].flatMap((provider) => findProvider({ providerId: provider })?.models ?? []);
  const starts = JSON.stringify(listed).match(/(?<="start":)\d+/g) ?? [];
  expect(starts.length).toBeGreaterThan(0);
  expect(starts.map(Number).filter((start) => !LENGTHS.some((length) => length === start))).toEqual([]);
});

it('answers of a turn that was continued are passes of their own, and so is the summary of a compaction', () => {
  const pass = { ...NO_USAGE, inputTokens: 150_000, outputTokens: 100 };
  const beside = [{ inputTokens: 250_000, outputTokens: 500, cacheReadTokens: 1000 }];
  const told = toldUsage(addUsage(pass, { ...pass, details: { beside } }));
  expect([told?.input_tokens, told?.output_tokens]).toEqual([550_000, 700]);
  expect(told?.details).toEqual({
    passes: [
      { cache_read_tokens: 0, cache_write_tokens: 0, count: 2, input_tokens: 300_000, output_tokens: 200 },
      { cache_read_tokens: 1000, cache_write_tokens: 0, count: 1, input_tokens: 250_000, output_tokens: 500 },
    ],
  });
});
