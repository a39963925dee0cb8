import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { mapTo, targetOf } from '../support/mapping.ts';
import {
  answered,
  CHAT,
  CLAUDE,
  chatBody,
  chunk,
  claudeBody,
  eventsIn,
  fateOf,
  GEMINI_2,
  GEMINI_3,
  HELLO,
  KIMI,
  ofType,
  othersThan,
  RESPONSES,
  refused,
  sent,
  streamed,
} from './translation.ts';

describe('parameters', () => {
  it('C51 stop sequences on a wire without them are cut by the gateway, labelled, and the caller sees which one matched', () => {
    const mapping = mapTo(RESPONSES, 'claude', claudeBody(HELLO, { stop_sequences: ['</done>', 'STOP'] }));
    expect(mapping.upstream?.body).not.toHaveProperty('stop');
    expect(mapping.emulations).toEqual([
      {
        capability: 'stop_sequences',
        strategy: { type: 'post_processing', detail: 'the answer is cut at the first stop sequence by the gateway' },
      },
    ]);
    expect(fateOf(mapping, 'stop_sequences[0]')).toBe('emulated');
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'yes</done> and more', annotations: [] }],
    };
    const response: JsonObject = {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'gpt-4o',
      output: [message],
      usage: { input_tokens: 9, output_tokens: 6 },
    };
    const { changes } = mapTo(RESPONSES, 'claude', claudeBody(HELLO, { stop_sequences: ['</done>', 'STOP'] }));
    expect(answered('openai-responses', 'claude', response, changes)).toMatchObject({
      content: [{ type: 'text', text: 'yes' }],
      stop_reason: 'stop_sequence',
      stop_sequence: '</done>',
    });
    const deltas = ['ye', 's</do', 'ne> and more'].map((delta) => ({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta,
    }));
    const stream = [
      { type: 'response.created', response: { id: 'resp_1', model: 'gpt-4o' } },
      { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
      ...deltas,
      { type: 'response.completed', response },
    ];
    const events = eventsIn(streamed('openai-responses', 'claude', stream, mapping.changes));
    expect(ofType(events, 'content_block_delta').map(({ delta }) => (delta as JsonObject).text)).toEqual(['ye', 's']);
    expect(ofType(events, 'message_delta')).toMatchObject([{ delta: { stop_reason: 'stop_sequence', stop_sequence: '</done>' } }]);
    expect(ofType(events, 'message_stop')).toHaveLength(1);
  });

  it('C52 each parameter that Claude lacks is refused by name, and none vanishes', () => {
    const refusals: Readonly<Record<string, readonly [Json, string]>> = {
      seed: [7, 'Seed is not supported by Claude backend'],
      logprobs: [true, 'Logprobs is not supported by Claude backend'],
      n: [2, 'Several answers is not supported by Claude backend'],
      presence_penalty: [0.5, 'Presence penalty is not supported by Claude backend'],
      frequency_penalty: [0.5, 'Frequency penalty is not supported by Claude backend'],
      logit_bias: [{ 50256: -100 }, 'Logit bias is not supported by Claude backend'],
      temperature: [1.7, 'Temperature is not supported by Claude backend'],
    };
    for (const [name, [value, message]] of Object.entries(refusals)) {
      const error = refused(CLAUDE, 'openai-chat', chatBody(HELLO, { [name]: value }));
      expect([name, error.code, error.message]).toEqual([name, 'E001', message]);
    }
    const asked = chatBody(HELLO, { reasoning_effort: 'low', response_format: { type: 'json_object' } });
    const carried = sent(targetOf('claude', 'claude-opus-4-8'), 'openai-chat', asked);
    expect(carried).toMatchObject({
      output_config: { effort: 'low' },
      tool_choice: { type: 'tool', name: 'json_answer', disable_parallel_tool_use: true },
    });
    expect(refused(CLAUDE, 'openai-chat', chatBody(HELLO, { seed: 7 })).details.path).toBe('seed');
    // A model whose temperature is fixed takes the only value it has.
    expect(sent(KIMI, 'openai-chat', chatBody(HELLO, { temperature: 1 }))).not.toHaveProperty('temperature');
    expect(refused(KIMI, 'openai-chat', chatBody(HELLO, { temperature: 0.2 })).details.path).toBe('temperature');
    // What asks for nothing is no reason to refuse.
    expect(
      mapTo(CLAUDE, 'openai-chat', chatBody(HELLO, { n: 1, logprobs: false, presence_penalty: 0, logit_bias: {} })).error,
    ).toBeUndefined();
  });

  it('C53 what may be dropped is dropped everywhere with a report, and refused everywhere in strict', () => {
    const body = claudeBody(HELLO, { context_management: { edits: [] }, metadata: { user_id: 'u', other: 'x' } });
    for (const target of othersThan('claude')) {
      const mapping = mapTo(target, 'claude', body);
      expect([target.name, mapping.error, fateOf(mapping, 'context_management.edits'), fateOf(mapping, 'metadata.other')]).toEqual([
        target.name,
        undefined,
        'dropped',
        'dropped',
      ]);
      expect(refused(target, 'claude', body, { compatibility: 'strict' }).code).toBe('E006');
    }
  });

  it('C54 a number arrives as it was written', () => {
    const body = { contents: [{ role: 'user', parts: [{ text: 'q' }] }], generationConfig: { temperature: 0.7, topP: 0.1 } };
    expect(JSON.stringify(sent(targetOf('claude', 'claude-sonnet-4-0'), 'gemini', body))).toContain('"temperature":0.7,"top_p":0.1');
    expect(JSON.stringify(sent(GEMINI_2, 'claude', claudeBody(HELLO, { temperature: 0.7 })))).toContain('"temperature":0.7');
  });

  it('C55 more stop sequences than an engine takes are cut by the gateway instead of failing there', () => {
    const five = chatBody(HELLO, { stop: ['a', 'b', 'c', 'd', 'e'] });
    expect(sent(GEMINI_3, 'openai-chat', five).generationConfig).toMatchObject({ stopSequences: ['a', 'b', 'c', 'd', 'e'] });
    const six = mapTo(GEMINI_3, 'claude', claudeBody(HELLO, { stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f'] }));
    expect(six.upstream?.body.generationConfig).not.toHaveProperty('stopSequences');
    expect(six.emulations.map(({ capability }) => capability)).toEqual(['stop_sequences']);
    for (const [target, most] of [
      [CHAT, 4],
      [KIMI, 5],
    ] as const) {
      const sequences = Array.from({ length: most + 1 }, (_, at) => `s${at}`);
      expect(mapTo(target, 'claude', claudeBody(HELLO, { stop_sequences: sequences })).emulations).toHaveLength(1);
      expect(mapTo(target, 'claude', claudeBody(HELLO, { stop_sequences: sequences.slice(1) })).emulations).toHaveLength(0);
    }
    const { changes } = six;
    const events = eventsIn(streamed('openai-chat', 'claude', [chunk({ content: '12f3' }), chunk({}, 'stop'), '[DONE]'], changes));
    expect(ofType(events, 'content_block_delta')[0]?.delta).toEqual({ type: 'text_delta', text: '12' });
  });
});
