import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { mapTo } from '../support/mapping.ts';
import {
  answered,
  CHAT,
  CLAUDE,
  COPILOT,
  chatBody,
  chunk,
  claudeBody,
  eventsIn,
  fateOf,
  GEMINI_3,
  HELLO,
  KIMI,
  messagesOf,
  ofType,
  othersThan,
  RESPONSES,
  refused,
  sent,
  streamed,
} from './translation.ts';

const PDF = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' }, title: 'report' };
const PHOTO = 'https://example.test/cat.png';

describe('content', () => {
  it('C45 a PDF reaches every engine that reads one, and is refused by the others', () => {
    const body = claudeBody([{ role: 'user', content: [PDF, { type: 'text', text: 'sum up' }] }]);
    for (const target of [CHAT, RESPONSES, GEMINI_3])
      expect([target.name, JSON.stringify(sent(target, 'claude', body)).includes('JVBERg==')]).toEqual([target.name, true]);
    for (const target of [KIMI, COPILOT])
      expect(refused(target, 'claude', body).message).toBe(`Document input is not supported by ${target.engine.name} backend`);
    const file = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } };
    expect(messagesOf(sent(CLAUDE, 'openai-chat', chatBody([{ role: 'user', content: [file] }])))[0]).toEqual({
      role: 'user',
      content: [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' }, title: 'a.pdf' }],
    });
  });

  it('C46 an image by address keeps its address', () => {
    const body = claudeBody([{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: PHOTO } }] }]);
    expect(messagesOf(sent(CHAT, 'claude', body))[0]).toMatchObject({ content: [{ type: 'image_url', image_url: { url: PHOTO } }] });
    expect(messagesOf(sent(RESPONSES, 'claude', body))[0]).toMatchObject({ content: [{ type: 'input_image', image_url: PHOTO }] });
    expect(messagesOf(sent(GEMINI_3, 'claude', body))[0]).toMatchObject({
      parts: [{ fileData: { fileUri: PHOTO, mimeType: 'image/png' } }],
    });
    for (const target of othersThan('claude')) expect(JSON.stringify(sent(target, 'claude', body))).not.toContain('undefined');
  });

  it('C47 the system instruction and the tools of a Gemini caller arrive, in either spelling', () => {
    const declaration = { name: 'look', description: 'Looks.', parameters: { type: 'OBJECT', properties: { at: { type: 'STRING' } } } };
    const contents = [{ role: 'user', parts: [{ text: 'q' }] }];
    const camel = { systemInstruction: { parts: [{ text: 'be brief' }] }, contents, tools: [{ functionDeclarations: [declaration] }] };
    const snake = { system_instruction: { parts: [{ text: 'be brief' }] }, contents, tools: [{ function_declarations: [declaration] }] };
    for (const body of [camel, snake]) {
      expect(sent(CLAUDE, 'gemini', body)).toMatchObject({
        system: 'be brief',
        tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: { at: { type: 'string' } } } }],
      });
      expect(sent(RESPONSES, 'gemini', body)).toMatchObject({ instructions: 'be brief', tools: [{ type: 'function', name: 'look' }] });
    }
  });

  it('C48 Copilot gets system messages, its vision header, and who initiated the call', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aWJt' } };
    const asked = mapTo(COPILOT, 'claude', claudeBody([{ role: 'user', content: [image] }], { system: 'be brief' })).upstream;
    expect(messagesOf(asked?.body ?? {})[0]).toEqual({ role: 'system', content: 'be brief' });
    expect(asked?.headers).toEqual({ 'openai-intent': 'conversation-edits', 'x-initiator': 'user', 'copilot-vision-request': 'true' });
    const call = { type: 'tool_use', id: 't1', name: 'look', input: {} };
    const loop = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: [call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'r' }] },
    ];
    expect(mapTo(COPILOT, 'claude', claudeBody(loop)).upstream?.headers).toEqual({
      'openai-intent': 'conversation-edits',
      'x-initiator': 'agent',
    });
    expect(fateOf(mapTo(COPILOT, 'claude', claudeBody(HELLO, { system: 'be brief' })), 'system')).toBe('renamed');
  });

  it('C49 a filtered or refused answer is a refusal for Claude’s callers, with its words', () => {
    const choice = (message: JsonObject, finish: string): JsonObject => ({
      id: 'c',
      model: 'm',
      choices: [{ index: 0, message, finish_reason: finish }],
    });
    expect(answered('openai-chat', 'claude', choice({ role: 'assistant', content: 'I' }, 'content_filter'))).toMatchObject({
      stop_reason: 'refusal',
      content: [{ text: 'I' }],
    });
    expect(answered('openai-chat', 'claude', choice({ role: 'assistant', content: null, refusal: 'I cannot.' }, 'stop'))).toMatchObject({
      stop_reason: 'refusal',
      content: [{ type: 'text', text: 'I cannot.' }],
    });
    expect(answered('gemini', 'claude', { promptFeedback: { blockReason: 'SAFETY' } }).stop_reason).toBe('refusal');
    const text = streamed('openai-chat', 'claude', [chunk({ role: 'assistant', content: 'I' }), chunk({}, 'content_filter'), '[DONE]']);
    expect(ofType(eventsIn(text), 'message_delta')[0]).toMatchObject({ delta: { stop_reason: 'refusal' } });
  });

  it('C50 the stop sequence that matched reaches the caller where the engine tells it', () => {
    const told = { index: 0, message: { role: 'assistant', content: 'one ' }, finish_reason: 'stop', stop_reason: 'STOP' };
    expect(answered('openai-chat', 'claude', { id: 'c', model: 'm', choices: [told] })).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'STOP',
    });
    const text = streamed('openai-chat', 'claude', [chunk({ content: 'one ' }), chunk({}, 'stop', { matched_stop: 'STOP' }), '[DONE]']);
    expect(ofType(eventsIn(text), 'message_delta')[0]?.delta).toEqual({ stop_reason: 'stop_sequence', stop_sequence: 'STOP' });
    const byToken = { ...told, stop_reason: 151_645 };
    expect(answered('openai-chat', 'claude', { id: 'c', model: 'm', choices: [byToken] })).toMatchObject({
      stop_reason: 'end_turn',
      stop_sequence: null,
    });
  });
});
