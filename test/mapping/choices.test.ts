import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import {
  answered,
  CHAT,
  CLAUDE,
  COPILOT,
  callDelta,
  chatBody,
  eventsIn,
  GEMINI_2,
  HELLO,
  KIMI,
  RESPONSES,
  refused,
  sent,
  streamed,
} from '../cases/translation.ts';
import { mapTo, targetOf } from '../support/mapping.ts';

const ASK = chatBody(HELLO, { n: 2 });
const GEMINI_ASK = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }], generationConfig: { candidateCount: 2 } };

describe('a request for several answers', () => {
  test('is candidateCount on Gemini and n on the Chat family', () => {
    expect(sent(GEMINI_2, 'openai-chat', ASK).generationConfig).toEqual({ candidateCount: 2 });
    for (const target of [CHAT, KIMI, COPILOT]) expect(sent(target, 'gemini', GEMINI_ASK).n).toBe(2);
  });

  test.each([CLAUDE, RESPONSES, targetOf('groq', 'llama-3.3-70b')])('is refused by $name, which gives one', (target) => {
    expect(refused(target, 'gemini', GEMINI_ASK)).toMatchObject({
      code: 'E001',
      message: `Several answers is not supported by ${target.engine.name} backend`,
      details: { path: 'generationConfig.candidateCount' },
    });
  });

  test('is refused where each answer would have to be cut at stop sequences', () => {
    const stopSequences = ['1', '2', '3', '4', '5'];
    const body = { ...GEMINI_ASK, generationConfig: { candidateCount: 2, stopSequences } };
    expect(refused(CHAT, 'gemini', body)).toMatchObject({
      code: 'E001',
      message: `Cutting several answers at stop sequences is not supported by ${CHAT.engine.name} backend`,
    });
    expect(mapTo(CHAT, 'gemini', { ...body, generationConfig: { stopSequences } }).error).toBeUndefined();
  });

  test('for one is nothing that an engine could lack', () => {
    for (const target of [CLAUDE, RESPONSES]) expect(mapTo(target, 'openai-chat', chatBody(HELLO, { n: 1 })).error).toBeUndefined();
  });
});

const candidate = (index: number, text: string, finishReason = 'STOP'): JsonObject => ({
  index,
  finishReason,
  content: { role: 'model', parts: [{ text }] },
});

describe('several answers', () => {
  test('of Gemini are choices of Chat, and back', () => {
    const body = { candidates: [candidate(0, 'a'), candidate(1, 'b', 'MAX_TOKENS')], usageMetadata: { promptTokenCount: 3 } };
    const chat = answered('gemini', 'openai-chat', body);
    expect(chat.choices).toMatchObject([
      { index: 0, message: { content: 'a' }, finish_reason: 'stop' },
      { index: 1, message: { content: 'b' }, finish_reason: 'length' },
    ]);
    expect(chat.usage).toMatchObject({ prompt_tokens: 3 });
    expect(answered('openai-chat', 'gemini', chat).candidates).toMatchObject(body.candidates);
  });

  test('are streamed side by side, each with its own calls and end, and the usage once', () => {
    const piece = (index: number, delta: JsonObject, finish: string | null = null): JsonObject => ({
      id: 'c',
      model: 'm',
      choices: [{ index, delta, finish_reason: finish }],
    });
    const chunks = [
      piece(0, { role: 'assistant', content: '' }),
      piece(1, { role: 'assistant', content: '' }),
      piece(1, callDelta(0, '{"at":1}', { id: 'c1', name: 'look' })),
      piece(0, callDelta(0, '{"at":0}', { id: 'c0', name: 'look' })),
      piece(1, {}, 'tool_calls'),
      piece(0, {}, 'tool_calls'),
      { id: 'c', choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
      '[DONE]',
    ];
    const candidates = eventsIn(streamed('openai-chat', 'gemini', chunks)).flatMap((event) => event.candidates as JsonObject[]); // each has one
    const parts = (index: number): unknown[] =>
      candidates.filter((one) => one.index === index).map((one) => (one.content as JsonObject).parts); // written with content
    expect([parts(0), parts(1)]).toMatchObject([
      [[{ functionCall: { id: 'c0', args: { at: 0 } } }], [{ text: '' }]],
      [[{ functionCall: { id: 'c1', args: { at: 1 } } }], [{ text: '' }]],
    ]);
    const kimi = eventsIn(streamed('openai-chat', 'kimi', chunks));
    const ends = kimi.flatMap(({ choices }) => choices as JsonObject[]).filter((choice) => choice.finish_reason !== null); // chunks have choices
    expect(ends).toMatchObject([
      { index: 1, finish_reason: 'tool_calls' },
      { index: 0, finish_reason: 'tool_calls', usage: { prompt_tokens: 5 } },
    ]);
  });

  test('get changes of their own: JSON by a forced tool is text in each of them', () => {
    const body = { ...GEMINI_ASK, generationConfig: { candidateCount: 2, responseMimeType: 'application/json' } };
    const { changes, upstream } = mapTo(COPILOT, 'gemini', body);
    expect(upstream?.body.n).toBe(2);
    const choice = (index: number): JsonObject => ({
      index,
      finish_reason: 'tool_calls',
      message: { role: 'assistant', tool_calls: [{ id: `c${index}`, function: { name: 'json_answer', arguments: `{"n":${index}}` } }] },
    });
    expect(answered('copilot', 'gemini', { id: 'c', choices: [choice(0), choice(1)] }, changes).candidates).toMatchObject([
      { content: { parts: [{ text: '{"n":0}' }] }, finishReason: 'STOP' },
      { content: { parts: [{ text: '{"n":1}' }] }, finishReason: 'STOP' },
    ]);
  });
});
