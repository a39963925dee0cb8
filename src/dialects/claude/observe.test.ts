import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { observeBody } from './observe.ts';

const usage = { input_tokens: 3, output_tokens: 4, cache_read_input_tokens: 2, cache_creation_input_tokens: null };

function answer(content: unknown, more: object = {}): Record<string, unknown> {
  return { id: 'msg_1', type: 'message', role: 'assistant', model: 'm-1', content, stop_reason: 'end_turn', usage, ...more };
}

const seen = {
  model: 'm-1',
  finish: 'stop',
  toolCalls: [],
  usage: { inputTokens: 5, outputTokens: 4, cacheReadTokens: 2, cacheWriteTokens: 0, thinkingTokens: 0, webSearchRequests: 0 },
};

describe('an answer in one piece', () => {
  it('tells its model, its usage and why it ended', () => {
    expect(observeBody(JSON.stringify(answer([{ type: 'text', text: 'hi' }])))).toEqual(seen);
    expect(observeBody(JSON.stringify(answer([]), null, 2))).toEqual(seen);
  });

  it('tells them whatever its content is, and whatever stands where', () => {
    const lure = fc.constantFrom(
      '"content":',
      '"stop_reason":"max_tokens","usage":{"input_tokens":900}}',
      '\\"stop_reason\\":"x"}',
      '"model":"other","tool_use"',
      ']}',
      '\\',
    );
    const text = fc.array(fc.oneof(lure, fc.string({ unit: 'binary', maxLength: 6 })), { maxLength: 4 }).map((parts) => parts.join(''));
    const nested = fc.record({
      type: fc.constant('other'),
      model: text,
      content: text,
      stop_reason: text,
      usage: fc.constant({ input_tokens: 99 }),
    });
    const block = fc.oneof(
      text.map((value) => ({ type: 'text', text: value })),
      nested,
      fc.record({ type: fc.constant('x'), 'k"stop_reason': text }),
    );
    const members = fc.shuffledSubarray(['id', 'type', 'role', 'model', 'content', 'stop_reason', 'usage', 'extra'], { minLength: 8 });
    fc.assert(
      fc.property(fc.array(block, { maxLength: 3 }), members, nested, (content, order, extra) => {
        const whole = answer(content, { extra });
        expect(observeBody(JSON.stringify(Object.fromEntries(order.map((name) => [name, whole[name]]))))).toEqual(seen);
      }),
    );
  });

  it('tells its tool calls', () => {
    const content = [
      { type: 'text', text: 'x' },
      { type: 'tool_use', id: 't1', name: 'search', input: { q: 1 } },
    ];
    expect(observeBody(JSON.stringify(answer(content))).toolCalls).toEqual([{ id: 't1', name: 'search', arguments: '{"q":1}' }]);
  });

  it('that is an error tells its message, and one that is nothing tells nothing', () => {
    expect(observeBody('{"type":"error","error":{"type":"overloaded_error","message":"busy"}}')).toEqual({ toolCalls: [], error: 'busy' });
    for (const body of ['', '{', '[]', '{"content":1}', '{"content":"stop_reason":}', '"content":"stop_reason":']) {
      expect(observeBody(body)).toEqual({ toolCalls: [] });
    }
  });
});
