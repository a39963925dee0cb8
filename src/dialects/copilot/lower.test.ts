import { expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { LoweredRequest } from '../dialect.ts';
import { copilot } from './dialect.ts';

const base: IrRequest = {
  model: 'm',
  stream: false,
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hello' }] }],
  tools: [],
  stop: [],
  sampling: {},
  vendor: {},
};

function lower(members: Partial<IrRequest>, traits: string[] = []): LoweredRequest {
  return copilot.lowerRequest({ ...base, ...members }, { traits: new Set(traits), lacks: new Set(), defaultMaxTokens: 4096 });
}

/** The messages as plain data, to look into. */
function messages(lowered: LoweredRequest): JsonObject[] {
  return lowered.body.messages as unknown as JsonObject[]; // always a list of messages
}

const call = { kind: 'tool-call', id: 'call_1', name: 'look', arguments: '' } as const;
const result = { kind: 'tool-result', callId: 'call_1', isError: false, parts: [{ kind: 'text', text: 'ok' }] } as const;

it('Copilot is told who speaks and that there are images', () => {
  expect(lower({}).headers).toEqual({ 'openai-intent': 'conversation-edits', 'x-initiator': 'user' });
  const image = { kind: 'image', source: { kind: 'url', url: 'https://example.test/a.png' } } as const;
  const agent = [{ role: 'user', parts: [{ ...result, parts: [image] }] }] as const;
  expect(lower({ messages: agent }).headers).toEqual({
    'openai-intent': 'conversation-edits',
    'x-initiator': 'agent',
    'copilot-vision-request': 'true',
  });
});

it('Copilot gets reasoning back only with its seal', () => {
  const own = { kind: 'thinking', text: 'hm', meta: { copilot: { reasoning_opaque: 's' } } } as const;
  const sealed = lower({ messages: [{ role: 'assistant', parts: [own, call] }] });
  expect(messages(sealed)[0]).toMatchObject({ reasoning_text: 'hm', reasoning_opaque: 's' });
  const foreign = { kind: 'thinking', text: 'hm', meta: { claude: { signature: 'x' } }, at: 'messages[0].content[0]' } as const;
  const dropped = lower({ messages: [{ role: 'assistant', parts: [foreign, call] }] });
  expect(messages(dropped)[0]?.reasoning_text).toBeUndefined();
  expect(dropped.notes).toMatchObject([{ concept: 'thinking_history', fate: 'dropped', at: 'messages[0].content[0]' }]);
});
