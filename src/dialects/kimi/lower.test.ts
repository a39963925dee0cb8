import { expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { LoweredRequest } from '../dialect.ts';
import { kimi } from './dialect.ts';

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
  return kimi.lowerRequest({ ...base, ...members }, { traits: new Set(traits), lacks: new Set(), defaultMaxTokens: 4096 });
}

/** The messages as plain data, to look into. */
function messages(lowered: LoweredRequest): JsonObject[] {
  return lowered.body.messages as unknown as JsonObject[]; // always a list of messages
}

const call = { kind: 'tool-call', id: 'call_1', name: 'look', arguments: '' } as const;

it('A wish to see the reasoning is no setting of a model with levels, which shows it', () => {
  const lowered = lower({ thinking: { mode: 'adaptive', display: 'summarized' } }, ['reasoning-effort']);
  expect([lowered.body.thinking, lowered.body.reasoning_effort]).toEqual([undefined, undefined]);
  expect(lowered.notes).toMatchObject([{ concept: 'thinking', fate: 'emulated', code: 'thinking_as_effort' }]);
});

it('Kimi gets a switch or a level, never both', () => {
  const both = { thinking: { mode: 'enabled', budgetTokens: 2048 }, effort: 'medium' } as const;
  const switched = lower(both, ['thinking-switch']);
  expect([switched.body.thinking, switched.body.reasoning_effort]).toEqual([{ type: 'enabled' }, undefined]);
  const level = lower(both, ['reasoning-effort']);
  expect([level.body.thinking, level.body.reasoning_effort]).toEqual([undefined, 'high']);
  expect(level.notes).toMatchObject([
    { concept: 'thinking', fate: 'dropped', code: 'thinking_lost_to_effort' },
    { concept: 'effort', fate: 'emulated', code: 'thinking_as_effort' },
  ]);
});

it('Kimi says what its models cannot do: one that always reasons gets its lowest level, a tool forced while thinking is refused', () => {
  expect(lower({ effort: 'none' }, ['reasoning-effort']).notes).toMatchObject([{ concept: 'effort', code: 'always_reasons' }]);
  const forced = lower({ thinking: { mode: 'enabled' }, toolChoice: { kind: 'required' } }, ['thinking-switch']);
  expect(forced.notes).toMatchObject([{ concept: 'tool_choice', fate: 'refused' }]);
});

it('Kimi gets a stand-in for reasoning that a call in the history has lost, unless thinking is off', () => {
  const history = [{ role: 'assistant', parts: [call], at: 'messages[1]' }] as const;
  const lowered = lower({ messages: history }, ['thinking-switch']);
  expect(messages(lowered)[0]?.reasoning_content).toBe('The reasoning of this step was not kept.');
  expect(lowered.notes).toMatchObject([{ concept: 'thinking_history', fate: 'emulated', at: 'messages[1]' }]);
  const off = lower({ messages: history, thinking: { mode: 'disabled' } }, ['thinking-switch']);
  expect(messages(off)[0]?.reasoning_content).toBeUndefined();
});

it('Kimi continues a last message of the assistant, whichever dialect it came from', () => {
  const prefill = [...base.messages, { role: 'assistant', parts: [{ kind: 'text', text: '{' }] }] as const;
  expect(messages(lower({ messages: prefill })).at(-1)).toEqual({ role: 'assistant', content: '{', partial: true });
});
