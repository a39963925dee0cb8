import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { callDelta, chunk, eventsIn, ofType, stepped, streamed } from './translation.ts';

const CALL = { id: 'call_1', name: 'look' };
const CHAT_STREAM = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'I ' }),
  chunk({ content: 'look.' }),
  chunk(callDelta(0, '', CALL)),
  chunk(callDelta(0, '{"at":')),
  chunk(callDelta(0, '"x"}')),
  chunk({}, 'tool_calls'),
  { id: 'chatcmpl-1', model: 'gpt-4o', choices: [], usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } },
  '[DONE]',
];

/** A stream of Claude with a call and nothing before it. */
const CLAUDE_CALL = [
  { type: 'message_start', message: { id: 'msg_1', model: 'claude', usage: { input_tokens: 4, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} } },
  { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"at":' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '"x"}' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];

function typesOf(events: readonly JsonObject[]): unknown[] {
  return events.map(({ type }) => type);
}

describe('the shape of streams', () => {
  it('C56 every item of a Responses stream is announced, told and repeated whole, in order', () => {
    expect(typesOf(eventsIn(streamed('openai-chat', 'openai-responses', CHAT_STREAM)))).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  it('C57 the last event has the id and the whole output, and every delta says where it belongs', () => {
    const events = eventsIn(streamed('claude', 'openai-responses', CLAUDE_CALL));
    expect(ofType(events, 'response.completed')[0]?.response).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      status: 'completed',
      output: [{ type: 'function_call', call_id: 'toolu_1', name: 'look', arguments: '{"at":"x"}', status: 'completed' }],
      usage: { input_tokens: 4, output_tokens: 9, total_tokens: 13 },
    });
    for (const delta of ofType(events, 'response.function_call_arguments.delta'))
      expect(delta).toMatchObject({ item_id: expect.stringMatching(/^fc_/), output_index: 0 });
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
  });

  it('C58 an item has one id from its first event to the final output', () => {
    const events = eventsIn(streamed('openai-chat', 'openai-responses', CHAT_STREAM));
    const completed = ofType(events, 'response.completed').map(({ response }) => response as JsonObject);
    const final = completed.flatMap(({ output }) => output as readonly JsonObject[]);
    for (const type of ['response.output_item.added', 'response.output_item.done']) {
      expect(ofType(events, type).map(({ item }) => (item as JsonObject).id)).toEqual(final.map(({ id }) => id));
    }
    const told = events.filter(({ item_id }) => item_id !== undefined);
    for (const { item_id, output_index } of told) expect(item_id).toBe(final[Number(output_index)]?.id);
    expect(new Set(final.map(({ id }) => id)).size).toBe(2);
  });

  it('C59 items that only their own events tell survive an empty final output', () => {
    const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"x"}', status: 'completed' };
    const stream = [
      { type: 'response.created', response: { id: 'resp_1', model: 'gpt-5' } },
      { type: 'response.output_item.done', output_index: 0, item: call },
      {
        type: 'response.completed',
        response: { id: 'resp_1', status: 'completed', output: [], usage: { input_tokens: 1, output_tokens: 2 } },
      },
    ];
    const events = eventsIn(streamed('openai-responses', 'claude', stream));
    expect(ofType(events, 'content_block_start')[0]?.content_block).toMatchObject({ type: 'tool_use', id: 'call_1', name: 'look' });
    expect(ofType(events, 'content_block_delta')[0]?.delta).toMatchObject({ partial_json: '{"at":"x"}' });
    expect(ofType(events, 'message_delta')[0]?.delta).toMatchObject({ stop_reason: 'tool_use' });
  });

  it('C60 a stream that begins with a call begins with its message, and ends it once', () => {
    const stream = [chunk(callDelta(0, '{}', CALL)), chunk({}, 'tool_calls'), '[DONE]'];
    const types = typesOf(eventsIn(streamed('openai-chat', 'claude', stream)));
    expect(types).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('C61 no empty block is opened, and every block that opens closes', () => {
    const events = eventsIn(streamed('openai-chat', 'claude', CHAT_STREAM));
    const starts = ofType(events, 'content_block_start');
    expect(starts.map(({ content_block }) => (content_block as JsonObject).type)).toEqual(['text', 'tool_use']);
    expect(ofType(events, 'content_block_stop').map(({ index }) => index)).toEqual(starts.map(({ index }) => index));
    const onlyCall = eventsIn(
      streamed('openai-chat', 'claude', [
        chunk({ role: 'assistant', content: '' }),
        chunk(callDelta(0, '{}', CALL)),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ]),
    );
    expect(ofType(onlyCall, 'content_block_start').map(({ index, content_block }) => [index, (content_block as JsonObject).type])).toEqual([
      [0, 'tool_use'],
    ]);
  });

  it('C62 each dialect ends its stream its own way: [DONE] for Chat and for nobody else', () => {
    expect(streamed('claude', 'openai-chat', CLAUDE_CALL).endsWith('data: [DONE]\n\n')).toBe(true);
    expect(streamed('openai-chat', 'claude', CHAT_STREAM)).not.toContain('[DONE]');
    expect(streamed('openai-chat', 'claude', CHAT_STREAM).endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true);
    for (const caller of ['openai-responses', 'gemini']) expect(streamed('claude', caller, CLAUDE_CALL)).not.toContain('[DONE]');
    const cut = CLAUDE_CALL.slice(0, 3);
    expect(streamed('claude', 'openai-chat', cut)).not.toContain('[DONE]');
    expect(stepped('claude', cut).at(-1)).toMatchObject({ type: 'error' });
  });

  it('C63 a call streams to Chat callers as the vendor streams it: one piece with id and name, then arguments alone', () => {
    const pieces = eventsIn(streamed('claude', 'openai-chat', CLAUDE_CALL))
      .flatMap(({ choices }) => choices as readonly JsonObject[])
      .flatMap(({ delta }) => ((delta as JsonObject).tool_calls ?? []) as readonly JsonObject[]);
    expect(pieces).toEqual([
      { index: 0, id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '' } },
      { index: 0, function: { arguments: '{"at":' } },
      { index: 0, function: { arguments: '"x"}' } },
    ]);
  });
});
