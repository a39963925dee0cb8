import { describe, expect, it, onTestFinished } from 'vitest';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { startGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { mapTo } from '../support/mapping.ts';
import { startUpstream } from '../support/recording-upstream.ts';
import {
  answered,
  CHAT_LOOK,
  CLAUDE,
  COPILOT,
  chatBody,
  claudeBody,
  eventsIn,
  fateOf,
  GEMINI_2,
  GEMINI_3,
  HELLO,
  KIMI,
  LOOK,
  messagesOf,
  RESPONSES,
  refused,
  sent,
  streamed,
} from './translation.ts';

describe('declared tools', () => {
  const RICH: JsonObject = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      kind: { const: 'fixed', description: 'always' },
      size: { type: 'integer', exclusiveMinimum: 0 },
      place: { $ref: '#/$defs/place' },
      either: { oneOf: [{ type: 'string' }, { type: 'null' }] },
    },
    required: ['kind'],
    additionalProperties: false,
    $defs: { place: { type: 'object', properties: { city: { type: 'string' } } } },
  };

  it('C37 a tool’s schema arrives whole, with its definitions, limits and strictness', () => {
    const tool = { type: 'function', function: { name: 'f', description: 'd', parameters: RICH, strict: true } };
    // Claude refuses limits of numbers and open objects in a strict tool, so this one is sent as a plain one.
    expect(sent(CLAUDE, 'openai-chat', chatBody(HELLO, { tools: [tool] })).tools).toEqual([
      { name: 'f', description: 'd', input_schema: RICH, strict: false },
    ]);
    const closed = { type: 'object', properties: { kind: { const: 'fixed' } }, required: ['kind'], additionalProperties: false };
    const exact = { type: 'function', function: { name: 'f', parameters: closed, strict: true } };
    expect(sent(CLAUDE, 'openai-chat', chatBody(HELLO, { tools: [exact] })).tools).toEqual([
      { name: 'f', input_schema: closed, strict: true },
    ]);
    expect(sent(RESPONSES, 'claude', claudeBody(HELLO, { tools: [{ name: 'f', input_schema: RICH }] })).tools).toEqual([
      { type: 'function', name: 'f', parameters: RICH, strict: false },
    ]);
  });

  it('C38 const and strict have a form on Gemini', () => {
    const body = chatBody(HELLO, { tools: [{ type: 'function', function: { name: 'f', parameters: RICH, strict: true } }] });
    expect(sent(GEMINI_3, 'openai-chat', body)).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: { properties: { kind: { const: 'fixed' } } } }] }],
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
    });
  });

  it('C39 a schema under Claude’s name reaches Gemini, and is refused on the Chat path, where it has another', () => {
    expect(sent(GEMINI_3, 'claude', claudeBody(HELLO, { tools: [LOOK] })).tools).toEqual([
      { functionDeclarations: [{ name: 'look', description: 'Looks.', parametersJsonSchema: LOOK.input_schema }] },
    ]);
    const error = refused(GEMINI_3, 'openai-chat', chatBody(HELLO, { tools: [{ type: 'function', ...LOOK }] }));
    expect([error.code, error.message]).toEqual(['invalid_request', expect.stringContaining('tools[0].function')]);
  });

  it('C40 a model that takes only Gemini’s schema subset gets that subset, and the account names what it lacks', () => {
    const subset = { ...GEMINI_2, engine: { ...GEMINI_2.engine, models: [{ match: '*', traits: ['openapi-schema'] }] } };
    const body = chatBody(HELLO, {
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'f', parameters: RICH } }],
    });
    const mapping = mapTo(subset, 'openai-chat', body);
    const text = JSON.stringify(mapping.upstream?.body);
    for (const word of ['$schema', 'exclusiveMinimum', 'stream_options', '$ref', '$defs', 'additionalProperties'])
      expect([word, text.includes(word)]).toEqual([word, false]);
    expect(text).toContain('"place":{"type":"OBJECT","properties":{"city":{"type":"STRING"}}}');
    expect(mapping.fidelity.find(({ path }) => path === 'tools[0].function.parameters.properties.size.exclusiveMinimum')).toMatchObject({
      fate: 'emulated',
      code: 'schema_words_lost',
    });
  });

  it('C41 a choice that forbids or limits calls holds on every engine or is refused', () => {
    const none = chatBody(HELLO, { tools: [CHAT_LOOK], tool_choice: 'none' });
    expect(sent(CLAUDE, 'openai-chat', none).tool_choice).toEqual({ type: 'none' });
    expect(sent(GEMINI_3, 'openai-chat', none).toolConfig).toEqual({ functionCallingConfig: { mode: 'NONE' } });
    for (const target of [RESPONSES, KIMI, COPILOT]) expect(sent(target, 'openai-chat', none).tool_choice).toBe('none');
    const single = chatBody(HELLO, { tools: [CHAT_LOOK], parallel_tool_calls: false });
    expect(sent(CLAUDE, 'openai-chat', single).tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    for (const target of [GEMINI_3, KIMI]) {
      const mapping = mapTo(target, 'openai-chat', single);
      expect(fateOf(mapping, 'parallel_tool_calls')).toBe('emulated');
      expect(refused(target, 'openai-chat', single, { compatibility: 'strict' }).details.path).toBe('parallel_tool_calls');
      const parts = ['a', 'b'].map((at) => ({ functionCall: { name: 'look', args: { at } } }));
      const answer = answered(
        'gemini',
        'openai-chat',
        { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] },
        mapping.changes,
      );
      expect(answer.choices).toMatchObject([
        { finish_reason: 'tool_calls', message: { tool_calls: [{ function: { arguments: '{"at":"a"}' } }] } },
      ]);
    }
    expect(sent(COPILOT, 'openai-chat', single).parallel_tool_calls).toBe(false);
    const other = { type: 'function', function: { name: 'touch', parameters: { type: 'object', properties: {} } } };
    const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'look' } }] } };
    for (const target of [CLAUDE, GEMINI_3, KIMI, COPILOT]) {
      const mapping = mapTo(target, 'openai-chat', chatBody(HELLO, { tools: [CHAT_LOOK, other], tool_choice: allowed }));
      expect([target.name, JSON.stringify(mapping.upstream?.body).includes('touch')]).toEqual([target.name, false]);
      expect(fateOf(mapping, 'tool_choice.allowed_tools.mode')).toBe('emulated');
    }
  });

  it('C42 a hosted tool is served by the engine’s own, labelled, or refused by name; it is never a broken function', () => {
    const search = claudeBody(HELLO, { tools: [{ type: 'web_search_20250305', name: 'web_search' }] });
    const limited = claudeBody(HELLO, { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }] });
    expect(refused(GEMINI_3, 'claude', limited).details).toMatchObject({ feature: 'hosted_limit', path: 'tools[0].max_uses' });
    expect(sent(GEMINI_3, 'claude', search).tools).toEqual([{ googleSearch: {} }]);
    expect(sent(RESPONSES, 'claude', search).tools).toEqual([{ type: 'web_search' }]);
    expect(fateOf(mapTo(GEMINI_3, 'claude', search), 'tools[0].type')).toBe('emulated');
    expect(refused(COPILOT, 'claude', search).message).toBe('Web search is not supported by Copilot backend');
    const computer = refused(
      GEMINI_3,
      'claude',
      claudeBody(HELLO, { tools: [{ type: 'computer_20250124', name: 'computer', display_width_px: 1, display_height_px: 1 }] }),
    );
    expect([computer.code, computer.details.tool_name, computer.details.path]).toEqual(['E002', 'computer', 'tools[0]']);
    const spaced = {
      type: 'namespace',
      name: 'files',
      description: 'd',
      tools: [{ type: 'function', name: 'read', parameters: { type: 'object', properties: {} } }],
    };
    const custom = { type: 'custom', name: 'patch', description: 'Patches.', format: { type: 'text' } };
    const codex = mapTo(CLAUDE, 'openai-responses', { model: 'gpt-5', input: 'q', tools: [spaced, custom] });
    const names = ((codex.upstream?.body.tools ?? []) as readonly JsonObject[]).map(({ name }) => name);
    expect(names).toEqual([expect.stringMatching(/^files_read_[0-9a-f]{8}$/), 'patch']);
    const call = { type: 'tool_use', id: 't1', name: names[0] ?? '', input: {} };
    const patch = { type: 'tool_use', id: 't2', name: 'patch', input: { input: '*** Begin' } };
    const answer = answered(
      'claude',
      'openai-responses',
      { id: 'm', model: 'c', content: [call, patch], stop_reason: 'tool_use', usage: {} },
      codex.changes,
    );
    expect(answer.output).toMatchObject([
      { type: 'function_call', namespace: 'files', name: 'read', call_id: 't1' },
      { type: 'custom_tool_call', name: 'patch', input: '*** Begin', call_id: 't2' },
    ]);
  });

  it('C43 a hosted tool that we do not know passes to OpenAI byte for byte, and is refused by name elsewhere', async () => {
    const body = JSON.stringify({
      model: 'gpt-5',
      input: 'hello world',
      tools: [{ type: 'tool_search', description: 'Finds.', execution: 'client' }],
    });
    const upstream = await startUpstream();
    const server = await startGateway({ engines: { openai: { url: upstream.url, key: 'k' } } });
    onTestFinished(async () => {
      await server.close();
      await upstream.close();
    });
    expect((await post(`${server.url}/e/openai/v1/responses`, body)).status).toBe(200);
    expect(upstream.requests[0]?.body.toString()).toBe(body);
    const error = refused(CLAUDE, 'openai-responses', JSON.parse(body));
    expect([error.code, error.details.tool_name]).toEqual(['E002', 'tool_search']);
  });

  it('C44 a call without arguments has an empty object everywhere', () => {
    const chat = (args: string): Json => ({
      id: 'c',
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', tool_calls: [{ id: 'x', type: 'function', function: { name: 'look', arguments: args } }] },
          finish_reason: 'tool_calls',
        },
      ],
    });
    expect(answered('openai-chat', 'claude', chat('')).content).toMatchObject([{ type: 'tool_use', input: {} }]);
    expect(answered('openai-chat', 'gemini', chat('')).candidates).toMatchObject([
      { content: { parts: [{ functionCall: { args: {} } }] } },
    ]);
    const claude = {
      id: 'm',
      model: 'c',
      content: [{ type: 'tool_use', id: 't', name: 'look', input: {} }],
      stop_reason: 'tool_use',
      usage: {},
    };
    expect(answered('claude', 'openai-chat', claude).choices).toMatchObject([
      { message: { tool_calls: [{ function: { arguments: '{}' } }] } },
    ]);
    const start = { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'look', input: {} } };
    const stream = [
      { type: 'message_start', message: { id: 'm', model: 'c' } },
      start,
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ];
    const pieces = eventsIn(streamed('claude', 'openai-chat', stream)).flatMap(({ choices }) => choices as readonly JsonObject[]);
    const args = pieces
      .flatMap(({ delta }) => ((delta as JsonObject).tool_calls ?? []) as readonly JsonObject[])
      .map((call) => (call.function as JsonObject).arguments);
    expect(args.join('')).toBe('{}');
    const history = chatBody([
      { role: 'user', content: 'q' },
      { role: 'assistant', tool_calls: [{ id: 'x', type: 'function', function: { name: 'look', arguments: '' } }] },
      { role: 'tool', tool_call_id: 'x', content: 'r' },
    ]);
    expect(messagesOf(sent(CLAUDE, 'openai-chat', history))[1]).toMatchObject({ content: [{ input: {} }] });
  });
});
