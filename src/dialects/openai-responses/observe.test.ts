import { expect, test } from 'vitest';
import { observeBody, observeStream } from './observe.ts';

const frame = (type: string, data: object): Buffer => Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);

test('a stream whose last event has no output is known by its items, and deltas are never read', () => {
  const observer = observeStream();
  observer.frame(frame('response.created', { response: { id: 'r', model: 'gpt' } }));
  observer.frame(Buffer.from('event: response.output_text.delta\ndata: {"type":"response.completed","response":{"id":"no"\n\n'));
  observer.frame(frame('response.output_item.done', { item: { type: 'function_call', call_id: 'c', name: 'n', arguments: '' } }));
  observer.frame(frame('response.output_item.done', { item: { type: 'custom_tool_call', call_id: 'd', name: 'p', input: 'text' } }));
  observer.frame(
    frame('response.completed', { response: { id: 'r', status: 'completed', output: [], usage: { input_tokens: 3, output_tokens: 4 } } }),
  );
  expect(observer.done()).toEqual({
    model: 'gpt',
    finish: 'tool-calls',
    usage: { inputTokens: 3, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0, thinkingTokens: 0, webSearchRequests: 0 },
    toolCalls: [
      { id: 'c', name: 'n', arguments: '{}' },
      { id: 'd', name: 'p', arguments: 'text' },
    ],
  });
});

test('frames without an event name are read by their data', () => {
  const observer = observeStream();
  observer.frame(Buffer.from('data: {"type":"error","code":"c","message":"broken"}\n\n'));
  expect(observer.done()).toEqual({ toolCalls: [], error: 'broken' });
});

test('an error body tells its message in either shape', () => {
  expect(observeBody('{"error":{"message":"a"}}')).toEqual({ toolCalls: [], error: 'a' });
  expect(observeBody('{"detail":"b"}')).toEqual({ toolCalls: [], error: 'b' });
  expect(observeBody('no json')).toEqual({ toolCalls: [] });
});
