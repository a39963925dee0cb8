import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { EngineFailure } from '../../src/ir/engine-failure.ts';
import { streamedAnswer, wholeAnswer } from '../support/answer-translation.ts';
import { dialectOf, mapTo, targetOf } from '../support/mapping.ts';

const callers = dialects.map(({ id }) => id);

/** How a caller is told what a whole answer says. */
function failureOf(engine: string, caller: string, body: object): { status: number; text: string } {
  try {
    wholeAnswer(engine, caller, JSON.parse(JSON.stringify(body)) as never);
  } catch (thrown) {
    if (!(thrown instanceof EngineFailure)) throw thrown;
    const wire = dialectOf(caller).lowerError(thrown.error, { requestId: 'req_1' });
    return { status: wire.status, text: JSON.stringify(wire.body) };
  }
  throw new Error('it was taken for an answer');
}

describe.each(callers)('a caller of %s', (caller) => {
  test('reads a failed Responses answer as an error of its class', () => {
    const limited = { code: 'rate_limit_exceeded', message: 'Rate limit reached for gpt-5.' };
    const { status, text } = failureOf('openai-responses', caller, { id: 'resp_1', status: 'failed', error: limited, output: [] });
    expect(status).toBe(429);
    expect(text).toContain('Rate limit reached for gpt-5.');
  });

  test('reads a cancelled Responses answer as an error', () => {
    expect(failureOf('openai-responses', caller, { id: 'resp_1', status: 'cancelled', error: null, output: [] }).text).toContain(
      'the answer is cancelled',
    );
  });

  test.each([
    ['openai-responses', { id: 'x', object: 'chat.completion', choices: [{ message: { content: 'hi' } }] }],
    ['openai-chat', { id: 'x', object: 'chat.completion', model: 'm', choices: [] }],
    ['gemini', { usageMetadata: {} }],
  ])('reads an answer that is none of %s as an error, not as an empty answer', (engine, body) => {
    const { status, text } = failureOf(engine, caller, body);
    expect(status).toBeGreaterThanOrEqual(500);
    expect(text).toMatch(/answered without|holds no candidate/);
  });

  test.each(['insufficient_system_resource', 'abort', 'error'])('reads an answer that an engine gave up (%s) as an error', (reason) => {
    const head = { id: 'c', object: 'chat.completion', model: 'm' };
    const said = { role: 'assistant', content: 'half an ans' };
    const whole = { ...head, choices: [{ index: 0, message: said, finish_reason: reason }] };
    expect(() => wholeAnswer('openai-chat', caller, whole)).toThrow('the engine ended its answer with an error');
    const chunk = { ...head, choices: [{ index: 0, delta: said, finish_reason: reason }] };
    expect(streamedAnswer('openai-chat', caller, [chunk]).error).toContain('ended its answer with an error');
  });

  test('reads an error under a good status as that error, whole and streamed', () => {
    const body = { type: 'error', error: { type: 'overloaded_error', message: 'Too many at once' } };
    const { status, text } = failureOf('claude', caller, body);
    expect(text).toContain('Too many at once');
    expect(status).toBe(dialectOf(caller).lowerError({ kind: 'overloaded', message: '', status: 0 }, { requestId: '' }).status);
    const streamed = streamedAnswer('claude', caller, Buffer.from(JSON.stringify(body)));
    expect(streamed.text).toContain('Too many at once');
    expect(streamed.error).toBe('Too many at once');
  });

  test.each(dialects.map(({ id }) => id))('reads the bare body of an error in a stream of %s as that error', (engine) => {
    const bare = { error: { type: 'overloaded_error', code: 503, status: 'UNAVAILABLE', message: 'Too many at once' } };
    const told = streamedAnswer(engine, caller, [bare]);
    expect(told.text).toContain('Too many at once');
    expect(told.error).toBe('Too many at once');
  });

  test('is told of a page in place of an answer, with its beginning', () => {
    const page = Buffer.from('\uFEFF<html><body>Bad gateway of the proxy</body></html>');
    expect(streamedAnswer('gemini', caller, page).error).toContain('Bad gateway of the proxy');
  });
});

test.each([
  ['openai-chat', 'length'],
  ['kimi', 'length'],
  ['copilot', 'length'],
  ['openai-responses', 'incomplete'],
  ['gemini', 'MAX_TOKENS'],
  ['claude', 'pause_turn'],
])('a paused turn does not look finished to a caller of %s', (caller, word) => {
  for (const stop_reason of ['pause_turn', 'compaction']) {
    const body = {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'so far' }] },
      ...{ stop_reason, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
    };
    expect(JSON.stringify(wholeAnswer('claude', caller, body).body)).toContain(`"${word}"`);
  }
});

test('a stream that begins with a byte order mark is read from its first event', () => {
  const start = { type: 'message_start', message: { id: 'msg_1', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } };
  const rest = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ];
  const bytes = Buffer.from(
    `\uFEFF${[start, ...rest].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')}`,
  );
  const { text, error } = streamedAnswer('claude', 'openai-chat', bytes);
  expect(error).toBeUndefined();
  expect(text).toContain('"id":"msg_1"');
});

describe('functions, which were there before tools', () => {
  const request = {
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'look' }],
    functions: [{ name: 'look', parameters: { type: 'object', properties: {} } }],
  };
  const answer = {
    ...{
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'tool_use', id: 't1', name: 'look', input: { a: 1 } }],
    },
    ...{ stop_reason: 'tool_use', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
  };
  const echo = dialectOf('openai-chat').echoOf?.(request);

  test('are answered with a function_call', () => {
    const { body } = wholeAnswer('claude', 'openai-chat', answer, { echo });
    expect(body).toMatchObject({
      choices: [{ message: { content: null, function_call: { name: 'look', arguments: '{"a":1}' } }, finish_reason: 'function_call' }],
    });
    expect(JSON.stringify(body)).not.toContain('tool_calls');
  });

  test('are answered so in a stream, too', () => {
    const events = [
      { type: 'message_start', message: { id: 'msg_1', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't1', name: 'look', input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ];
    const { text } = streamedAnswer('claude', 'openai-chat', events, { echo });
    expect(text).toContain('"function_call":{"name":"look","arguments":""}');
    expect(text).toContain('"function_call":{"arguments":"{\\"a\\":1}"}');
    expect(text).toContain('"finish_reason":"function_call"');
    expect(text).not.toContain('tool_calls');
  });

  test('are called one at a time', () => {
    expect(mapTo(targetOf('claude', 'claude-sonnet-4-5'), 'openai-chat', request).upstream?.body.tool_choice).toMatchObject({
      disable_parallel_tool_use: true,
    });
  });
});

test('a mapped Responses answer repeats what SDKs read of the request', () => {
  const request = {
    ...{ model: 'gpt-5', input: 'hi', instructions: 'Be brief.', temperature: 0.2, metadata: { job: '7' }, tool_choice: 'required' },
    tools: [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} }, strict: false }],
  };
  const answer = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'hi' }] },
    ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
  };
  const { model: _asked, input: _said, ...repeated } = request;
  expect(wholeAnswer('claude', 'openai-responses', answer, { echo: dialectOf('openai-responses').echoOf?.(request) }).body).toMatchObject(
    repeated,
  );
});
