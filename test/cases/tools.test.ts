import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { type MappingTarget, mapTo } from '../support/mapping.ts';
import {
  answered,
  CHAT,
  CHAT_LOOK,
  CLAUDE,
  COPILOT,
  callDelta,
  chatBody,
  chunk,
  claudeBody,
  claudeLoop,
  eventsIn,
  GEMINI_2,
  GEMINI_3,
  HELLO,
  KIMI,
  LOOK,
  messagesOf,
  ofType,
  othersThan,
  RESPONSES,
  refused,
  sent,
  streamed,
} from './translation.ts';

const CALLS = [
  { type: 'tool_use', id: 't1', name: 'look', input: { at: 'a' } },
  { type: 'tool_use', id: 't2', name: 'look', input: { at: 'b' } },
];
const RESULTS = [
  { type: 'tool_result', tool_use_id: 't1', content: 'seen a' },
  { type: 'tool_result', tool_use_id: 't2', content: 'seen b' },
];
const PNG = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aWJt' } };

/** The calls of a Chat history. */
const chatCalls = [
  { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"a"}' } },
  { id: 'call_2', type: 'function', function: { name: 'look', arguments: '{"at":"b"}' } },
];

function blocksStarted(text: string): JsonObject[] {
  return ofType(eventsIn(text), 'content_block_start').map(({ content_block }) => content_block as JsonObject);
}

/** The arguments that each block of a Messages stream collected. */
function inputs(text: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const { index, delta } of ofType(eventsIn(text), 'content_block_delta')) {
    out[String(index)] = (out[String(index)] ?? '') + String((delta as JsonObject).partial_json ?? '');
  }
  return out;
}

describe('tools', () => {
  it('C26 a Kimi call id is rewritten for Claude and restored', () => {
    const message = {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'functions.Bash:0', type: 'function', function: { name: 'look', arguments: '{}' } }],
    };
    const { changes } = mapTo(KIMI, 'claude', claudeBody(HELLO, { tools: [LOOK] }));
    const answer = answered(
      'kimi',
      'claude',
      { id: 'c', model: 'k', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
      changes,
    );
    const [call] = answer.content as readonly [JsonObject];
    expect(call.id).toMatch(/^[a-zA-Z0-9_-]+$/);
    const back = sent(
      KIMI,
      'claude',
      claudeBody(claudeLoop([call], [{ type: 'tool_result', tool_use_id: call.id ?? '', content: 'ok' }]), { tools: [LOOK] }),
    );
    expect(messagesOf(back)[1]).toMatchObject({ tool_calls: [{ id: 'functions.Bash:0' }] });
    expect(messagesOf(back)[2]).toMatchObject({ role: 'tool', tool_call_id: 'functions.Bash:0' });
    const history = chatBody([
      { role: 'user', content: 'q' },
      { ...message },
      { role: 'tool', tool_call_id: 'functions.Bash:0', content: 'ok' },
    ]);
    const claude = messagesOf(sent(CLAUDE, 'kimi', { ...history, model: 'kimi-k2.5' }));
    expect(JSON.stringify(claude)).not.toContain('functions.Bash:0');
  });

  it('C27 the results of parallel calls stand in one user turn right after them', () => {
    const history = chatBody([
      { role: 'user', content: 'look' },
      { role: 'assistant', content: null, tool_calls: chatCalls },
      { role: 'tool', tool_call_id: 'call_1', content: 'a' },
      { role: 'tool', tool_call_id: 'call_2', content: 'b' },
      { role: 'user', content: 'and?' },
    ]);
    expect(messagesOf(sent(CLAUDE, 'openai-chat', history))[2]).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1', content: 'a' },
        { type: 'tool_result', tool_use_id: 'call_2', content: 'b' },
      ],
    });
    const item = (number: number): JsonObject => ({ type: 'function_call', call_id: `call_${number}`, name: 'look', arguments: '{}' });
    const output = (number: number): JsonObject => ({ type: 'function_call_output', call_id: `call_${number}`, output: `${number}` });
    const scattered = {
      model: 'gpt-5',
      input: [{ role: 'user', content: 'q' }, item(1), item(2), output(1), { role: 'user', content: 'wait' }, output(2)],
    };
    expect(messagesOf(sent(CLAUDE, 'openai-responses', scattered)).map(({ role, content }) => [role, content])).toEqual([
      ['user', 'q'],
      ['assistant', [expect.objectContaining({ id: 'call_1' }), expect.objectContaining({ id: 'call_2' })]],
      ['user', [expect.objectContaining({ tool_use_id: 'call_1' }), expect.objectContaining({ tool_use_id: 'call_2' })]],
      ['user', 'wait'],
    ]);
    expect(messagesOf(sent(CHAT, 'openai-responses', scattered)).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
    ]);
  });

  it('C28 mixed argument deltas of parallel calls each reach their own block, which opens and closes once', () => {
    const text = streamed('openai-chat', 'claude', [
      chunk(callDelta(0, '', { id: 'call_1', name: 'look' })),
      chunk(callDelta(1, '', { id: 'call_2', name: 'look' })),
      chunk(callDelta(0, '{"at"')),
      chunk(callDelta(1, '{"at":')),
      chunk(callDelta(0, ':"a"}')),
      chunk(callDelta(1, '"b"}')),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ]);
    expect(inputs(text)).toEqual({ 0: '{"at":"a"}', 1: '{"at":"b"}' });
    const frames = eventsIn(text).filter(({ type }) => type === 'content_block_start' || type === 'content_block_stop');
    expect(frames.map(({ type, index }) => [type, index])).toEqual([
      ['content_block_start', 0],
      ['content_block_stop', 0],
      ['content_block_start', 1],
      ['content_block_stop', 1],
    ]);
  });

  it('C29 parallel calls that all have the number 0 are told apart by their ids', () => {
    const text = streamed('openai-chat', 'claude', [
      chunk(callDelta(0, '{"at":"a"}', { id: 'call_1', name: 'look' })),
      chunk(callDelta(0, '{"at":"b"}', { id: 'call_2', name: 'look' })),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ]);
    expect(blocksStarted(text).map(({ id }) => id)).toEqual(['call_1', 'call_2']);
    expect(inputs(text)).toEqual({ 0: '{"at":"a"}', 1: '{"at":"b"}' });
  });

  it('C30 a turn with calls ends as a tool turn, whatever reason the engine gives', () => {
    const chat = {
      id: 'c',
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: chatCalls }, finish_reason: 'stop' }],
    };
    expect(answered('openai-chat', 'claude', chat).stop_reason).toBe('tool_use');
    const gemini = {
      candidates: [{ content: { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] }, finishReason: 'STOP' }],
    };
    expect(answered('gemini', 'claude', gemini).stop_reason).toBe('tool_use');
    expect(answered('gemini', 'openai-chat', gemini).choices).toMatchObject([{ finish_reason: 'tool_calls' }]);
    const text = streamed('gemini', 'claude', [gemini]);
    expect(ofType(eventsIn(text), 'message_delta')[0]?.delta).toMatchObject({ stop_reason: 'tool_use' });
  });

  it('C31 every tool result yields exactly one result, also an empty one', () => {
    const body = claudeBody(
      claudeLoop(CALLS, [
        { type: 'tool_result', tool_use_id: 't1', content: [] },
        { type: 'tool_result', tool_use_id: 't2' },
      ]),
      { tools: [LOOK] },
    );
    const count = (target: MappingTarget): number =>
      JSON.stringify(sent(target, 'claude', body)).match(/"tool_call_id"|"function_call_output"|"functionResponse"/g)?.length ?? 0;
    for (const target of othersThan('claude')) expect([target.name, count(target)]).toEqual([target.name, 2]);
    const reference = [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'tool_reference', tool_name: 'x' }] }, RESULTS[1] ?? {}];
    const found = JSON.stringify(sent(GEMINI_3, 'claude', claudeBody(claudeLoop(CALLS, reference), { tools: [LOOK] })));
    expect(found).toContain('[source] the tool x');
  });

  it('C32 blocks of another vendor on the Chat path are refused by name, never stripped', () => {
    const messages = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: CALLS },
      { role: 'user', content: RESULTS },
    ];
    const error = refused(CLAUDE, 'openai-chat', chatBody(messages));
    expect([error.code, error.details.path]).toEqual(['E001', 'messages[2].content[0].type']);
  });

  it('C33 calls, results and search results arrive or are refused, none is dropped', () => {
    const body = claudeBody(claudeLoop(CALLS, RESULTS), { tools: [LOOK] });
    for (const target of othersThan('claude')) {
      const text = JSON.stringify(sent(target, 'claude', body));
      for (const said of ['seen a', 'seen b']) expect([target.name, text.includes(said)]).toEqual([target.name, true]);
    }
    const found = { type: 'search_result', source: 'https://example.test', title: 't', content: [{ type: 'text', text: 'x' }] };
    const loopOf = (one: object): JsonObject =>
      claudeBody(claudeLoop(CALLS.slice(0, 1), [{ type: 'tool_result', tool_use_id: 't1', content: [one] }] as never), { tools: [LOOK] });
    expect(JSON.stringify(sent(CHAT, 'claude', loopOf(found)))).toContain('[source] t · https://example.test\\nx');
    // To cite it is what only Claude does.
    expect(refused(CHAT, 'claude', loopOf({ ...found, citations: { enabled: true } })).code).toBe('E001');
  });

  it('C34 a tool message is a tool result on every engine, not a text of the user', () => {
    const body = chatBody(
      [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: null, tool_calls: chatCalls.slice(0, 1) },
        { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
      ],
      { tools: [CHAT_LOOK] },
    );
    expect(messagesOf(sent(CLAUDE, 'openai-chat', body))[2]).toEqual({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'seen' }],
    });
    expect(messagesOf(sent(RESPONSES, 'openai-chat', body))[2]).toEqual({
      type: 'function_call_output',
      call_id: 'call_1',
      output: 'seen',
    });
    expect(messagesOf(sent(GEMINI_3, 'openai-chat', body))[2]).toEqual({
      role: 'user',
      parts: [{ functionResponse: { id: 'call_1', name: 'look', response: { result: 'seen' } } }],
    });
    expect(messagesOf(sent(COPILOT, 'openai-chat', body))[2]).toEqual({ role: 'tool', tool_call_id: 'call_1', content: 'seen' });
  });

  it('C35 an image in a tool result reaches the model as an image', () => {
    const result = { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'a photo' }, PNG] };
    const body = claudeBody(claudeLoop(CALLS.slice(0, 1), [result]), { tools: [LOOK] });
    const [, , three] = messagesOf(sent(GEMINI_3, 'claude', body)) as readonly { parts: readonly JsonObject[] }[];
    expect(three?.parts[0]).toMatchObject({
      functionResponse: { response: { result: 'a photo' }, parts: [{ inlineData: { mimeType: 'image/png', data: 'aWJt' } }] },
    });
    const [, , two] = messagesOf(sent(GEMINI_2, 'claude', body)) as readonly { parts: readonly JsonObject[] }[];
    expect(two?.parts.at(-1)).toEqual({ inlineData: { mimeType: 'image/png', data: 'aWJt' } });
    const chat = messagesOf(sent(CHAT, 'claude', body));
    expect(chat[2]).toMatchObject({ role: 'tool', content: 'a photo' });
    expect(chat[3]).toMatchObject({
      role: 'user',
      content: [{ type: 'text' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,aWJt' } }],
    });
    expect(messagesOf(sent(RESPONSES, 'claude', body))[2]).toMatchObject({
      output: [
        { type: 'input_text', text: 'a photo' },
        { type: 'input_image', image_url: 'data:image/png;base64,aWJt' },
      ],
    });
  });

  it('C36 text in the turn of a result stands after the result, and text beside calls stays', () => {
    const body = claudeBody(
      [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: [{ type: 'text', text: 'first' }, { type: 'text', text: 'second' }, CALLS[0] ?? {}] },
        { role: 'user', content: [{ type: 'text', text: 'before' }, RESULTS[0] ?? {}, { type: 'text', text: 'after' }] },
      ],
      { tools: [LOOK] },
    );
    const chat = messagesOf(sent(CHAT, 'claude', body));
    expect(chat.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(chat[1]?.content).toEqual([
      { type: 'text', text: 'first' },
      { type: 'text', text: 'second' },
    ]);
    expect(chat[3]?.content).toEqual([
      { type: 'text', text: 'before' },
      { type: 'text', text: 'after' },
    ]);
    const [, , gemini] = messagesOf(sent(GEMINI_3, 'claude', body)) as readonly { parts: readonly JsonObject[] }[];
    expect(gemini?.parts.map((part) => Object.keys(part)[0])).toEqual(['functionResponse', 'text', 'text']);
  });
});
