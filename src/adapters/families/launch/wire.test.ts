import { expect, it } from 'vitest';
import { GATEWAY } from '../../../../test/support/dialogue.ts';
import { type Wire, wireTo } from './wire.ts';

const WIRES: readonly [Wire, ...Wire[]] = [
  { dialect: 'openai-chat', api: 'chat', path: '/v1' },
  { dialect: 'claude', api: 'messages', path: '' },
];

it('speaks what the engine speaks, where the agent can', () => {
  expect(wireTo({ ...GATEWAY, engine: 'claude', dialect: 'claude' }, WIRES)).toMatchObject({
    api: 'messages',
    baseUrl: 'http://127.0.0.1:8088/e/claude',
  });
});

it('speaks its own first wire otherwise, and the gateway translates', () => {
  expect(wireTo({ ...GATEWAY, engine: 'gemini', dialect: 'gemini' }, WIRES)).toMatchObject({
    api: 'chat',
    baseUrl: 'http://127.0.0.1:8088/e/gemini/v1',
  });
  expect(wireTo(GATEWAY, WIRES).api).toBe('chat');
});
