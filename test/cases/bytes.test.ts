import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { mapTo } from '../support/mapping.ts';
import { type RecordedRequest, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { answered, CHAT_LOOK, CLAUDE, chatBody, claudeBody, fateOf, GEMINI_3, HELLO, othersThan, refused, sent } from './translation.ts';

const ANSWER = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
});

describe('bytes, order and caching', () => {
  let upstream: RecordingUpstream;
  let server: TestGateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    upstream.answer((socket) => {
      socket.write(whole(ANSWER));
    });
    server = await startGateway({ engines: { claude: { url: upstream.url, key: 'k' }, gemini: { url: upstream.url, key: 'k' } } });
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
  });

  async function relayed(path: string, body: string, headers: readonly string[] = []): Promise<RecordedRequest> {
    const answer = await post(`${server.url}${path}`, body, headers);
    expect(answer.status).toBe(200);
    const request = upstream.requests.at(-1);
    if (request === undefined) throw new Error('nothing was sent');
    return request;
  }

  it('C01 passthrough forwards the caller’s bytes, and a mapped body has one key order whatever the caller’s was', async () => {
    const body =
      '{ "stream":false,\n"messages" : [{"content":"h\\u00e9","role":"user"}],"system":"s", "max_tokens":1e2,"model":"claude-sonnet-4-5"}';
    expect((await relayed('/e/claude/v1/messages', body)).body.toString()).toBe(body);
    const one = sent(CLAUDE, 'openai-chat', { model: 'm', messages: HELLO, tools: [CHAT_LOOK], temperature: 0.5, max_tokens: 9 });
    const other = sent(CLAUDE, 'openai-chat', { max_tokens: 9, tools: [CHAT_LOOK], temperature: 0.5, messages: HELLO, model: 'm' });
    expect(Object.keys(one)).toEqual(['model', 'max_tokens', 'messages', 'tools', 'temperature']);
    expect(JSON.stringify(other)).toBe(JSON.stringify(one));
  });

  it('C02 members that ride along keep the bytes of the same request the same', () => {
    const body = chatBody(HELLO, { metadata: { b: '1', a: '2' }, user: 'u', store: true, prompt_cache_key: 'k', logit_bias: {} });
    const bytes = Array.from({ length: 100 }, () => JSON.stringify(sent(CLAUDE, 'openai-chat', body)));
    expect(new Set(bytes)).toEqual(new Set([bytes[0]]));
  });

  it('C03 the schema of a tool arrives with its keys in the caller’s order', () => {
    const schema = {
      type: 'object',
      properties: { z: { type: 'string' }, a: { type: 'object', required: ['k'], properties: { k: {} } } },
      required: ['z'],
    };
    const tool = { type: 'function', function: { name: 'f', parameters: schema } };
    expect(JSON.stringify(sent(CLAUDE, 'openai-chat', chatBody(HELLO, { tools: [tool] })).tools)).toContain(JSON.stringify(schema));
    expect(JSON.stringify(sent(GEMINI_3, 'openai-chat', chatBody(HELLO, { tools: [tool] })).tools)).toContain(JSON.stringify(schema));
  });

  it('C04 another model name is spliced in and every other byte stays', async () => {
    const body = '{"max_tokens":5, "zeta":[1,  2],"model":"claude/claude-sonnet-4-5","messages":[{"role":"user","content":"hi"}]}';
    expect((await relayed('/v1/messages', body)).body.toString()).toBe(body.replace('claude/claude-sonnet-4-5', 'claude-sonnet-4-5'));
  });

  it('C05 a signed thought passes byte for byte, and comes back whole through another dialect', async () => {
    const thought = '{"type":"thinking","signature":"Eq\\/+==","thinking":"a\\u2028b  \\n"}';
    const body = `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"assistant","content":[${thought}]},{"role":"user","content":"go"}]}`;
    expect((await relayed('/e/claude/v1/messages', body)).body.toString()).toBe(body);
    const answer = {
      ...JSON.parse(ANSWER),
      content: [
        { type: 'thinking', thinking: 'a\u2028b  \n', signature: 'Eq/+==' },
        { type: 'redacted_thinking', data: 'opaque' },
        { type: 'text', text: 'done' },
      ],
    };
    const shown = answered('claude', 'gemini', answer);
    const [candidate] = shown.candidates as unknown as [{ content: JsonObject }]; // written above
    const history = { contents: [{ role: 'user', parts: [{ text: 'q' }] }, candidate.content, { role: 'user', parts: [{ text: 'go' }] }] };
    const { messages } = sent(CLAUDE, 'gemini', history) as { messages: { content: Json }[] };
    expect(messages[1]?.content).toEqual(answer.content);
  });

  it('C06 a cache mark that an engine has no form for is reported, and refused in strict', () => {
    const body = claudeBody([{ role: 'user', content: [{ type: 'text', text: 'long', cache_control: { type: 'ephemeral' } }] }]);
    for (const target of othersThan('claude')) {
      expect(fateOf(mapTo(target, 'claude', body), 'messages[0].content[0].cache_control.type')).toBe('dropped');
      const error = refused(target, 'claude', body, { compatibility: 'strict' });
      expect([error.code, error.details.path]).toEqual(['E006', 'messages[0].content[0].cache_control.type']);
    }
  });

  it('C07 a cache mark on a tool message reaches Claude’s tool result', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
    const body = chatBody([
      { role: 'user', content: 'look' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'seen', cache_control: { type: 'ephemeral' } },
    ]);
    expect(sent(CLAUDE, 'openai-chat', body).messages).toMatchObject([
      {},
      {},
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'seen', cache_control: { type: 'ephemeral' } }] },
    ]);
    expect(fateOf(mapTo(CLAUDE, 'openai-chat', body), 'messages[2].cache_control.type')).toBe('renamed');
  });

  it('C08 cache marks of a Chat caller reach Claude from parts, messages and tools', () => {
    const mark = { type: 'ephemeral' };
    const body = chatBody(
      [
        { role: 'system', content: [{ type: 'text', text: 's', cache_control: mark }] },
        { role: 'user', content: 'long', cache_control: mark },
      ],
      { tools: [{ ...CHAT_LOOK, cache_control: mark }] },
    );
    const upstreamBody = sent(CLAUDE, 'openai-chat', body);
    expect(upstreamBody.system).toEqual([{ type: 'text', text: 's', cache_control: mark }]);
    expect(upstreamBody.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'long', cache_control: mark }] }]);
    expect(upstreamBody.tools).toMatchObject([{ name: 'look', cache_control: mark }]);
  });

  it('C09 the lifetime of a cache mark survives, and so does a mark on the whole request', async () => {
    const body =
      '{"model":"claude-sonnet-4-5","max_tokens":5,"cache_control":{"type":"ephemeral","ttl":"1h"},"messages":[{"role":"user","content":"hi"}]}';
    expect((await relayed('/e/claude/v1/messages', body)).body.toString()).toBe(body);
    const part = { type: 'text', text: 'long', cache_control: { type: 'ephemeral', ttl: '1h' } };
    expect(sent(CLAUDE, 'openai-chat', chatBody([{ role: 'user', content: [part] }])).messages).toEqual([
      { role: 'user', content: [part] },
    ]);
  });

  it('C10 fields that nobody knows pass untouched', async () => {
    const body = JSON.stringify(
      claudeBody(HELLO, {
        output_config: { effort: 'low', future: { deep: [1] } },
        context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
        cache_control: { type: 'ephemeral' },
        some_future_field: { a: null },
      }),
    );
    expect((await relayed('/e/claude/v1/messages', body)).body.toString()).toBe(body);
  });

  it('C11 beta headers go upstream as the caller wrote them, and to no other vendor', async () => {
    const betas = 'claude-code-20250219,interleaved-thinking-2025-05-14, unknown-2099-01-01';
    const headers = ['Anthropic-Beta', betas, 'anthropic-version', '2023-06-01'];
    const own = await relayed('/e/claude/v1/messages', JSON.stringify(claudeBody(HELLO)), headers);
    expect(own.headers).toContainEqual(['Anthropic-Beta', betas]);
    upstream.answer((socket) => {
      socket.write(whole(JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }] })));
    });
    const foreign = await relayed('/e/gemini/v1/messages', JSON.stringify(claudeBody(HELLO)), headers);
    expect(foreign.headers.filter(([name]) => name.toLowerCase().startsWith('anthropic'))).toEqual([]);
  });
});
