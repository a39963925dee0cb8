import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post, send } from '../support/http-call.ts';
import { dialectOf, mapTo } from '../support/mapping.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { chunkedHead, chunk as httpChunk, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import {
  answered,
  CHAT,
  CLAUDE,
  chatBody,
  chunk,
  claudeBody,
  eventsIn,
  fateOf,
  HELLO,
  ofType,
  othersThan,
  RESPONSES,
  stepped,
  streamed,
} from './translation.ts';

const CACHED = { input_tokens: 10, cache_read_input_tokens: 1000, cache_creation_input_tokens: 200, output_tokens: 50 };
const CLAUDE_ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: CACHED,
};

/** The same answer as a stream; `start` is what its first event counts. */
function claudeStream(start: JsonObject, end: JsonObject): JsonObject[] {
  return [
    { type: 'message_start', message: { id: 'msg_1', model: 'claude-sonnet-4-5', usage: start } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: end },
    { type: 'message_stop' },
  ];
}

function endUsage(engine: string, chunks: readonly (JsonObject | string)[]): unknown {
  const end = stepped(engine, chunks).at(-1);
  return end?.type === 'message-end' ? end.usage : undefined;
}

describe('usage, cost, errors and the life of a call', () => {
  let upstream: RecordingUpstream;
  let server: TestGateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    const engine = { url: upstream.url, key: 'k' };
    server = await startGateway({ engines: { claude: engine, openai: engine, gemini: engine } });
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
  });

  it('C64 a mapped stream begins with an estimate of the input and ends with the engine’s count', () => {
    const body = claudeBody([{ role: 'user', content: 'x'.repeat(4000) }], { stream: true });
    const usage = { prompt_tokens: 1234, completion_tokens: 3, total_tokens: 1237 };
    const { changes } = mapTo(CHAT, 'claude', body);
    const events = eventsIn(
      streamed('openai-chat', 'claude', [chunk({ content: 'hi' }), chunk({}, 'stop'), { id: 'c', choices: [], usage }, '[DONE]'], changes),
    );
    expect(ofType(events, 'message_start')[0]).toMatchObject({ message: { usage: { input_tokens: 1000 } } });
    expect(ofType(events, 'message_delta')[0]).toMatchObject({ usage: { input_tokens: 1234, output_tokens: 3 } });
  });

  it('C65 cached tokens are counted once, and a stream counts what the whole answer counts', () => {
    const expected = {
      inputTokens: 1210,
      outputTokens: 50,
      cacheReadTokens: 1000,
      cacheWriteTokens: 200,
      thinkingTokens: 0,
      webSearchRequests: 0,
    };
    expect(dialectOf('claude').liftResponse(CLAUDE_ANSWER).usage).toEqual(expected);
    const { output_tokens, ...input } = CACHED;
    expect(endUsage('claude', claudeStream({ ...input, output_tokens: 1 }, { output_tokens }))).toEqual(expected);
    const back = answered('claude', 'claude', CLAUDE_ANSWER).usage;
    expect(back).toEqual({ input_tokens: 10, cache_creation_input_tokens: 200, cache_read_input_tokens: 1000, output_tokens: 50 });
  });

  it('C66 what server tools added during a stream is counted from its end', () => {
    const stream = claudeStream(
      { input_tokens: 100, output_tokens: 1 },
      { input_tokens: 9000, output_tokens: 70, server_tool_use: { web_search_requests: 3 } },
    );
    expect(endUsage('claude', stream)).toMatchObject({ inputTokens: 9000, outputTokens: 70, webSearchRequests: 3 });
  });

  it('C67 the counts at the start and at the end of a stream are not added, and thinking is kept', () => {
    const end = { input_tokens: 100, output_tokens: 60, output_tokens_details: { thinking_tokens: 40 } };
    expect(endUsage('claude', claudeStream({ input_tokens: 100, output_tokens: 8 }, end))).toMatchObject({
      inputTokens: 100,
      outputTokens: 60,
      thinkingTokens: 40,
    });
    const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14, completion_tokens_details: { reasoning_tokens: 6 } };
    const kimi = [
      chunk({ content: 'hi' }),
      { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] },
      { id: 'c', choices: [], usage },
      '[DONE]',
    ];
    expect(endUsage('kimi', kimi)).toMatchObject({ inputTokens: 5, outputTokens: 9, thinkingTokens: 6 });
  });

  it('C68 prompt, completion and total agree in Chat’s usage, and cached tokens survive both ways', () => {
    expect(answered('claude', 'openai-chat', CLAUDE_ANSWER).usage).toMatchObject({
      prompt_tokens: 1210,
      completion_tokens: 50,
      total_tokens: 1260,
      prompt_tokens_details: { cached_tokens: 1000, cache_write_tokens: 200 },
    });
    const choice = { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' };
    const usage = { prompt_tokens: 1210, completion_tokens: 50, total_tokens: 1260, prompt_tokens_details: { cached_tokens: 1000 } };
    expect(answered('openai-chat', 'claude', { id: 'c', model: 'm', choices: [choice], usage }).usage).toEqual({
      input_tokens: 210,
      cache_read_input_tokens: 1000,
      cache_creation_input_tokens: 0,
      output_tokens: 50,
    });
  });

  it('C69 an engine’s error reaches the caller in the caller’s shape, overload as 529 for Claude’s callers', async () => {
    const overloaded = JSON.stringify({ error: { message: 'The engine is overloaded', type: 'server_error', param: null, code: null } });
    upstream.answer((socket) => {
      socket.write(whole(overloaded, { status: '503 Service Unavailable' }));
    });
    const mapped = await post(`${server.url}/e/openai/v1/messages`, claudeBody(HELLO));
    expect([mapped.status, JSON.parse(mapped.body.toString())]).toEqual([
      529,
      {
        type: 'error',
        error: { type: 'overloaded_error', message: expect.stringMatching(/overloaded/i) },
        request_id: expect.stringMatching(/^req_[0-9a-f]{32}$/),
      },
    ]);
    const native = '{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: required"},"request_id":"req_011"}';
    upstream.answer((socket) => {
      socket.write(whole(native, { status: '400 Bad Request', headers: ['content-type: application/json', 'request-id: req_011'] }));
    });
    const relayed = await post(`${server.url}/e/claude/v1/messages`, claudeBody(HELLO));
    expect([relayed.status, relayed.body.toString(), relayed.headers['request-id']]).toEqual([400, native, 'req_011']);
  });

  it('C70 a caller who leaves cancels the engine’s work, and the receipt has what was used until then', async () => {
    const [start = {}, block = {}, delta = {}] = claudeStream({ input_tokens: 100, output_tokens: 2 }, {});
    upstream.answer((socket) => {
      socket.write(chunkedHead());
      for (const event of [start, block, delta]) socket.write(httpChunk(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
    });
    const answer = await send(`${server.url}/e/claude/v1/messages`, {
      method: 'POST',
      headers: ['content-type', 'application/json'],
      body: JSON.stringify(claudeBody(HELLO, { stream: true })),
    });
    await once(answer, 'data');
    const gone = once(upstream.sockets.at(-1) ?? answer, 'close');
    answer.destroy();
    await gone;
    const receipt = await receiptOf(server.url, answer.headers['x-abp-run-id']);
    expect(receipt).toMatchObject({ status: 'cancelled', reason: 'client_closed', usage: { input_tokens: 100, output_tokens: 2 } });
  });

  it('C71 members of an item that nobody knows pass to their owner, and are reported elsewhere', async () => {
    const item = {
      type: 'message',
      role: 'assistant',
      phase: 'commentary',
      content: [{ type: 'output_text', text: 'looking', annotations: [] }],
    };
    const body = JSON.stringify({ model: 'gpt-5', input: [{ role: 'user', content: 'q' }, item, { role: 'user', content: 'go' }] });
    const response =
      '{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","phase":"commentary","future":1,"content":[]}]}';
    upstream.answer((socket) => {
      socket.write(whole(response));
    });
    const answer = await post(`${server.url}/e/openai/v1/responses`, body);
    expect([upstream.requests.at(-1)?.body.toString(), answer.body.toString()]).toEqual([body, response]);
    expect(fateOf(mapTo(CLAUDE, 'openai-responses', JSON.parse(body)), 'input[1].phase')).toBe('dropped');
  });

  it('C72 the end user in Claude’s metadata reaches engines that know one, and other metadata is reported', () => {
    const body = claudeBody(HELLO, { metadata: { user_id: 'user-7' } });
    expect(mapTo(CHAT, 'claude', body).upstream?.body.safety_identifier).toBe('user-7');
    expect(mapTo(RESPONSES, 'claude', body).upstream?.body.safety_identifier).toBe('user-7');
    for (const target of othersThan('claude')) {
      const fate = fateOf(mapTo(target, 'claude', body), 'metadata.user_id');
      expect([target.name, fate]).toEqual([target.name, target.dialect.names.end_user === undefined ? 'dropped' : 'renamed']);
    }
    expect(mapTo(CLAUDE, 'openai-chat', chatBody(HELLO, { user: 'user-7' })).upstream?.body.metadata).toEqual({ user_id: 'user-7' });
  });
});
