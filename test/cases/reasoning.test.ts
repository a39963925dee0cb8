import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { mapTo, targetOf } from '../support/mapping.ts';
import {
  answered,
  CHAT,
  CHAT_LOOK,
  CLAUDE,
  chatBody,
  chunk,
  claudeBody,
  claudeLoop,
  eventsIn,
  fateOf,
  GEMINI_2,
  GEMINI_3,
  KIMI,
  KIMI_3,
  LOOK,
  ofType,
  othersThan,
  REASONING,
  refused,
  sent,
  streamed,
} from './translation.ts';

const SIGNATURE = 'c2lnbmF0dXJl';

/** An answer of Gemini 3 that thinks and calls. */
const GEMINI_CALL = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { text: 'I should look.', thought: true, thoughtSignature: 'dGhvdWdodA==' },
          { functionCall: { name: 'look', args: { at: 'x' } }, thoughtSignature: SIGNATURE },
        ],
      },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 4, totalTokenCount: 9 },
  modelVersion: 'gemini-3-pro',
  responseId: 'r1',
};

/** What a Claude caller sends back after an answer: the answer, and the results of its calls. */
function continued(answer: JsonObject, more: JsonObject = {}): JsonObject {
  const content = answer.content as readonly JsonObject[]; // a Messages answer
  const results = content
    .filter(({ type }) => type === 'tool_use')
    .map(({ id }) => ({ type: 'tool_result', tool_use_id: id ?? '', content: 'seen' }));
  return claudeBody(
    [
      { role: 'user', content: 'look' },
      { role: 'assistant', content },
      { role: 'user', content: results },
    ],
    { tools: [LOOK], ...more },
  );
}

function partsOf(body: JsonObject, at: number): readonly JsonObject[] {
  const contents = body.contents as readonly { parts: readonly JsonObject[] }[]; // a generateContent body
  return contents[at]?.parts ?? [];
}

describe('thinking and the state of reasoning', () => {
  it('C12 a reasoning item that an engine cannot take back is reported, and the request is served', () => {
    const item = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'because' }], encrypted_content: 'gAAA' };
    const body = {
      model: 'gpt-5',
      input: [{ role: 'user', content: 'why' }, item, { role: 'assistant', content: 'so' }, { role: 'user', content: 'go' }],
    };
    for (const target of othersThan('openai-responses')) {
      const mapping = mapTo(target, 'openai-responses', body);
      expect([target.name, mapping.error, fateOf(mapping, 'input[1].encrypted_content')]).toEqual([target.name, undefined, 'dropped']);
      expect(JSON.stringify(mapping.upstream?.body)).not.toContain('gAAA');
    }
  });

  it('C13 the signature of a thought beside a call is kept and returned to Gemini', () => {
    const body = sent(GEMINI_3, 'claude', continued(answered('gemini', 'claude', GEMINI_CALL)));
    expect(partsOf(body, 1)[0]).toEqual({ text: 'I should look.', thought: true, thoughtSignature: 'dGhvdWdodA==' });
  });

  it('C14 the signature of a call travels through Claude’s history and back onto the call', () => {
    const answer = answered('gemini', 'claude', GEMINI_CALL);
    expect((answer.content as readonly JsonObject[]).map(({ type }) => type)).toEqual(['thinking', 'redacted_thinking', 'tool_use']);
    const [, call] = partsOf(sent(GEMINI_3, 'claude', continued(answer)), 1);
    expect(call).toMatchObject({ functionCall: { name: 'look', args: { at: 'x' } }, thoughtSignature: SIGNATURE });
    const events = eventsIn(streamed('gemini', 'claude', [GEMINI_CALL]));
    const carrier = ofType(events, 'content_block_start').map((event) => event.content_block as JsonObject)[1];
    expect(carrier).toEqual((answer.content as readonly JsonObject[])[1]);
  });

  it('C15 no state hides in the id of a call: ids stay short and plain', () => {
    const long = {
      ...GEMINI_CALL,
      candidates: [
        {
          ...GEMINI_CALL.candidates[0],
          content: { role: 'model', parts: [{ functionCall: { name: 'look', args: {} }, thoughtSignature: 'A'.repeat(4000) }] },
        },
      ],
    };
    const content = answered('gemini', 'claude', long).content as readonly JsonObject[]; // a Messages answer
    const id = String(content.find(({ type }) => type === 'tool_use')?.id);
    expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  it('C16 a turn whose calls came back without Claude’s own reasoning goes on without thinking, and says so', () => {
    const call = { id: 'look:0', type: 'function', function: { name: 'look', arguments: '{}' } };
    const body = {
      model: 'kimi-k2.5',
      max_tokens: 8000,
      thinking: { type: 'enabled' },
      tools: [CHAT_LOOK],
      messages: [
        { role: 'user', content: 'look' },
        { role: 'assistant', content: '', reasoning_content: 'I should look.', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'look:0', content: 'seen' },
      ],
    };
    expect(sent(CLAUDE, 'kimi', body).thinking).toEqual({ type: 'disabled' });
    expect(fateOf(mapTo(CLAUDE, 'kimi', body), 'thinking.type')).toBe('emulated');
    expect(sent(CLAUDE, 'kimi', { ...body, messages: body.messages.slice(0, 1) }).thinking).toEqual({
      type: 'enabled',
      budget_tokens: 4096,
    });
  });

  it('C17 a replayed thought never becomes visible text on Responses', () => {
    const messages = [
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'SECRET', signature: 'sig' },
          { type: 'text', text: 'answer' },
        ],
      },
      { role: 'user', content: 'go' },
    ];
    for (const target of [REASONING, CHAT, GEMINI_2]) {
      const mapping = mapTo(target, 'claude', claudeBody(messages));
      expect(JSON.stringify(mapping.upstream?.body)).not.toContain('SECRET');
      expect(fateOf(mapping, 'messages[1].content[0].thinking')).toBe('dropped');
    }
  });

  it('C18 reasoning details of a Chat history are reported where they cannot go', () => {
    const details = [{ type: 'reasoning.text', text: 'because', signature: 'sig' }];
    const body = chatBody([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'a', reasoning_details: details },
      { role: 'user', content: 'go' },
    ]);
    const mapping = mapTo(CLAUDE, 'openai-chat', body);
    expect(mapping.error).toBeUndefined();
    expect(fateOf(mapping, 'messages[1].reasoning_details[0].signature')).toBe('dropped');
    expect(refused(CLAUDE, 'openai-chat', body, { compatibility: 'strict' }).code).toBe('E006');
  });

  it('C20 Claude’s thinking is refused or honoured with a label, never ignored, and comes back as thinking', () => {
    const body = claudeBody([{ role: 'user', content: 'q' }], { thinking: { type: 'enabled', budget_tokens: 2048 } });
    for (const target of othersThan('claude')) expect([target.name, refused(target, 'claude', body).code]).toEqual([target.name, 'E001']);
    const opted = mapTo(GEMINI_2, 'claude', body, { emulate: ['extended_thinking'] });
    expect(opted.upstream?.body.generationConfig).toMatchObject({ thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } });
    expect(opted.emulations.map(({ capability }) => capability)).toEqual(['extended_thinking']);
    const events = eventsIn(streamed('gemini', 'claude', [GEMINI_CALL]));
    expect(ofType(events, 'content_block_delta').map(({ delta }) => (delta as JsonObject).type)).toEqual([
      'thinking_delta',
      'signature_delta',
      'input_json_delta',
    ]);
    const signed = ofType(events, 'content_block_delta')[1]?.delta as JsonObject;
    expect(signed.signature).toMatch(/^abp1\..+/);
  });

  it('C21 a call in Kimi’s history has its reasoning, or a stand-in that says there is none', () => {
    const call = { type: 'tool_use', id: 't1', name: 'look', input: {} };
    const result = { type: 'tool_result', tool_use_id: 't1', content: 'seen' };
    const bare = sent(KIMI, 'claude', claudeBody(claudeLoop([call], [result]), { tools: [LOOK] }));
    expect((bare.messages as readonly JsonObject[])[1]).toMatchObject({
      role: 'assistant',
      reasoning_content: 'The reasoning of this step was not kept.',
    });
    const thought = { type: 'thinking', thinking: 'I should look.', signature: '' };
    const kept = sent(KIMI, 'claude', claudeBody(claudeLoop([thought, call], [result]), { tools: [LOOK] }));
    expect((kept.messages as readonly JsonObject[])[1]).toMatchObject({ reasoning_content: 'I should look.', tool_calls: [{ id: 't1' }] });
  });

  it('C22 an effort becomes the one switch or level that a Kimi model has, never both', () => {
    const body = chatBody([{ role: 'user', content: 'q' }], { reasoning_effort: 'high' });
    const switched = sent(KIMI, 'openai-chat', body);
    expect([switched.thinking, switched.reasoning_effort]).toEqual([{ type: 'enabled' }, undefined]);
    const levelled = sent(KIMI_3, 'openai-chat', body);
    expect([levelled.thinking, levelled.reasoning_effort]).toEqual([undefined, 'high']);
    expect(sent(KIMI, 'openai-chat', { ...body, reasoning_effort: 'none' }).thinking).toEqual({ type: 'disabled' });
  });

  it('C23 an effort stays an effort on a model that has levels, and is a labelled budget on a Claude that knows nothing else', () => {
    const body = chatBody([{ role: 'user', content: 'q' }], { reasoning_effort: 'high' });
    const claude = sent(targetOf('claude', 'claude-opus-4-8'), 'openai-chat', body);
    expect([claude.output_config, claude.thinking]).toEqual([{ effort: 'high' }, undefined]);
    const older = sent(CLAUDE, 'openai-chat', body);
    expect([older.output_config, older.thinking]).toEqual([undefined, { type: 'enabled', budget_tokens: 16_384 }]);
    expect(fateOf(mapTo(CLAUDE, 'openai-chat', body), 'reasoning_effort')).toBe('emulated');
    const responses = sent(REASONING, 'claude', claudeBody([{ role: 'user', content: 'q' }], { output_config: { effort: 'high' } }));
    expect([responses.reasoning, responses.thinking]).toEqual([{ effort: 'high' }, undefined]);
  });

  it('C24 reasoning of an engine that signs nothing stays thinking, with an empty signature', () => {
    const message = { role: 'assistant', reasoning_content: 'because', content: 'so' };
    const answer = answered('kimi', 'claude', { id: 'c1', model: 'kimi-k2.5', choices: [{ index: 0, message, finish_reason: 'stop' }] });
    expect(answer.content).toEqual([
      { type: 'thinking', thinking: 'because', signature: '' },
      { type: 'text', text: 'so' },
    ]);
    const text = streamed('kimi', 'claude', [
      chunk({ reasoning_content: 'because' }),
      chunk({ content: 'so' }),
      chunk({}, 'stop'),
      '[DONE]',
    ]);
    expect(ofType(eventsIn(text), 'content_block_start').map(({ content_block }) => (content_block as JsonObject).type)).toEqual([
      'thinking',
      'text',
    ]);
  });

  it('C25 OpenAI’s reasoning item rides in Claude’s history and is restored whole, with nothing stored', () => {
    const item = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'because' }], encrypted_content: 'gAAAAB' };
    const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"x"}', status: 'completed' };
    const answer = answered('openai-responses', 'claude', {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'gpt-5.2',
      output: [item, call],
      usage: null,
    } as Json);
    const body = sent(REASONING, 'claude', continued(answer));
    expect(body.store).toBe(false);
    expect(body.include).toEqual(['reasoning.encrypted_content']);
    expect((body.input as readonly JsonObject[])[1]).toEqual(item);
    expect((body.input as readonly JsonObject[])[2]).toMatchObject({ type: 'function_call', call_id: 'call_1', name: 'look' });
  });
});
