import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import {
  answered,
  CHAT,
  CLAUDE,
  chatBody,
  chunk,
  eventsIn,
  fateOf,
  GEMINI_2,
  HELLO,
  KIMI,
  REASONING,
  RESPONSES,
  refused,
  sent,
  streamed,
} from '../cases/translation.ts';
import { mapTo } from '../support/mapping.ts';

const CHAT_ASK = chatBody(HELLO, { logprobs: true, top_logprobs: 2 });
const RESPONSES_ASK = { model: 'gpt-4o', input: 'hello', include: ['message.output_text.logprobs'], top_logprobs: 2 };
const GEMINI_ASK = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }], generationConfig: { responseLogprobs: true, logprobs: 2 } };

describe('a request for logprobs', () => {
  test.each([
    [CHAT, 'openai-responses', RESPONSES_ASK],
    [CHAT, 'gemini', GEMINI_ASK],
  ])('is written as Chat takes it ($name, $1)', (target, from, body) => {
    expect(sent(target, from, body)).toMatchObject({ logprobs: true, top_logprobs: 2 });
  });

  test.each([
    [RESPONSES, 'openai-chat', CHAT_ASK],
    [RESPONSES, 'gemini', GEMINI_ASK],
  ])('is written as Responses takes it', (target, from, body) => {
    expect(sent(target, from, body)).toMatchObject({ include: ['message.output_text.logprobs'], top_logprobs: 2 });
  });

  test.each([
    [GEMINI_2, 'openai-chat', CHAT_ASK],
    [GEMINI_2, 'openai-responses', RESPONSES_ASK],
  ])('is written as Gemini takes it', (target, from, body) => {
    expect(sent(target, from, body).generationConfig).toEqual({ responseLogprobs: true, logprobs: 2 });
  });

  test('stands in the account as a renamed field and in the negotiation as a native capability', () => {
    const mapping = mapTo(GEMINI_2, 'openai-chat', CHAT_ASK);
    expect([fateOf(mapping, 'logprobs'), fateOf(mapping, 'top_logprobs')]).toEqual(['renamed', 'renamed']);
    expect(mapping.negotiation?.result.native).toEqual(['logprobs']);
    expect(mapping.emulations).toEqual([]);
  });

  test.each([CLAUDE, KIMI])('is refused by $name, which has none', (target) => {
    expect(refused(target, 'openai-chat', CHAT_ASK)).toMatchObject({ code: 'E001', details: { feature: 'logprobs' } });
  });

  test('is refused for a model that has none, in strict and in best_effort', () => {
    expect(refused(REASONING, 'gemini', GEMINI_ASK).code).toBe('E001');
    expect(refused(REASONING, 'gemini', GEMINI_ASK, { compatibility: 'strict' }).code).toBe('E006');
  });
});

const CHAT_TOKEN = {
  token: 'Hi',
  logprob: -0.1,
  bytes: [72, 105],
  top_logprobs: [
    { token: 'Hi', logprob: -0.1, bytes: [72, 105] },
    { token: 'é', logprob: -3, bytes: [195, 169] },
  ],
};
const GEMINI_TOKENS = {
  topCandidates: [
    {
      candidates: [
        { token: 'Hi', tokenId: 7, logProbability: -0.1 },
        { token: 'é', tokenId: 9, logProbability: -3 },
      ],
    },
  ],
  chosenCandidates: [{ token: 'Hi', tokenId: 7, logProbability: -0.1 }],
};

describe('logprobs of an answer', () => {
  test('of Gemini become those of Chat and of Responses, with the bytes of each token', () => {
    const body = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', logprobsResult: GEMINI_TOKENS }],
    };
    expect(answered('gemini', 'openai-chat', body).choices).toMatchObject([{ logprobs: { content: [CHAT_TOKEN], refusal: null } }]);
    expect(answered('gemini', 'openai-responses', body).output).toMatchObject([{ content: [{ text: 'Hi', logprobs: [CHAT_TOKEN] }] }]);
  });

  test('of Chat become those of Gemini, without numbers of a vocabulary that it does not have', () => {
    const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop', logprobs: { content: [CHAT_TOKEN] } };
    const [candidate] = answered('openai-chat', 'gemini', { id: 'c', model: 'm', choices: [choice] }).candidates as JsonObject[]; // one was sent
    expect(candidate?.logprobsResult).toEqual({
      topCandidates: [
        {
          candidates: [
            { token: 'Hi', logProbability: -0.1 },
            { token: 'é', logProbability: -3 },
          ],
        },
      ],
      chosenCandidates: [{ token: 'Hi', logProbability: -0.1 }],
    });
  });

  test('that are streamed come with the words they belong to', () => {
    const second = { ...CHAT_TOKEN, token: ' you', bytes: [32, 121, 111, 117], top_logprobs: [] };
    const chunks = [
      chunk({ content: 'Hi' }, null, { logprobs: { content: [CHAT_TOKEN] } }),
      chunk({ content: ' you' }, null, { logprobs: { content: [second] } }),
      chunk({}, 'stop'),
      '[DONE]',
    ];
    const deltas = eventsIn(streamed('openai-chat', 'openai-responses', chunks)).filter(
      ({ type }) => type === 'response.output_text.delta',
    );
    expect(deltas).toMatchObject([
      { delta: 'Hi', logprobs: [CHAT_TOKEN] },
      { delta: ' you', logprobs: [second] },
    ]);
    const done = eventsIn(streamed('openai-chat', 'openai-responses', chunks)).find(({ type }) => type === 'response.output_text.done');
    expect(done).toMatchObject({ text: 'Hi you', logprobs: [CHAT_TOKEN, second] });
    expect(eventsIn(streamed('openai-chat', 'gemini', chunks)).slice(0, 2)).toMatchObject([
      { candidates: [{ content: { parts: [{ text: 'Hi' }] }, logprobsResult: { chosenCandidates: [{ token: 'Hi' }] } }] },
      { candidates: [{ content: { parts: [{ text: ' you' }] }, logprobsResult: { chosenCandidates: [{ token: ' you' }] } }] },
    ]);
  });

  test('of Responses are told once, whether with the pieces or only with the whole item', () => {
    const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' };
    const whole = { ...item, content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [CHAT_TOKEN] }] };
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const stream = (logprobs: JsonObject[]): JsonObject[] => [
      { type: 'response.created', response: { id: 'resp_1', model: 'gpt-4o' } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      { type: 'response.output_text.delta', ...place, delta: 'Hi', logprobs },
      { type: 'response.output_item.done', output_index: 0, item: whole },
      { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [whole] } },
    ];
    for (const logprobs of [[CHAT_TOKEN], []]) {
      const chunks = eventsIn(streamed('openai-responses', 'openai-chat', stream(logprobs)));
      const told = chunks.flatMap(({ choices }) => choices as JsonObject[]).filter((choice) => choice.logprobs !== null); // chunks have choices
      expect(told).toMatchObject([{ logprobs: { content: [CHAT_TOKEN] } }]);
    }
  });

  test('end with the answer where it is cut at a stop sequence', () => {
    const { changes } = mapTo(RESPONSES, 'openai-chat', { ...CHAT_ASK, stop: ['END'] });
    const tokens = ['Hi', ' E', 'ND', ' more'].map((token) => ({ token, logprob: -1, bytes: [...Buffer.from(token)], top_logprobs: [] }));
    const content = [{ type: 'output_text', text: 'Hi END more', annotations: [], logprobs: tokens }];
    const body = { id: 'resp_1', status: 'completed', output: [{ type: 'message', id: 'msg_1', role: 'assistant', content }] };
    expect(answered('openai-responses', 'openai-chat', body, changes).choices).toMatchObject([
      { message: { content: 'Hi ' }, logprobs: { content: [{ token: 'Hi' }] } },
    ]);
  });

  test('of a call alone stay with Gemini, as no other wire tells them', () => {
    const parts = [{ functionCall: { name: 'look', args: {} } }];
    const body = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', logprobsResult: GEMINI_TOKENS }] };
    expect(answered('gemini', 'openai-chat', body).choices).toMatchObject([{ logprobs: null, finish_reason: 'tool_calls' }]);
    expect(answered('gemini', 'gemini', body).candidates).toMatchObject([{ logprobsResult: GEMINI_TOKENS }]);
  });
});
