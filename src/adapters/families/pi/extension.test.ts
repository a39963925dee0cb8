import { expect, it } from 'vitest';
import { DENIED, type ExtensionSettings, extensionText, GATE_TITLE, HOOK_LETS, HOOK_TITLE, REFUSED } from './extension.ts';

type Handler = (event: Record<string, unknown>, ctx: Record<string, unknown>) => unknown;

/** Loads the text as both agents do and collects what it registers. */
async function load(settings: ExtensionSettings) {
  const handlers = new Map<string, Handler>();
  const providers: unknown[] = [];
  const servers: unknown[] = [];
  const module = await import(`data:text/javascript,${encodeURIComponent(extensionText(settings) ?? '')}`);
  module.default({
    on: (event: string, handler: Handler) => handlers.set(event, handler),
    registerProvider: (...args: unknown[]) => providers.push(args),
    registerMcpServer: (...args: unknown[]) => servers.push(args),
  });
  return { handlers, providers, servers };
}

const CALL = { toolName: 'write', toolCallId: 'call_1', input: { path: 'a' } };

it('is no file when there is nothing to do', () => {
  expect(extensionText({})).toBeUndefined();
});

it('registers the gateway as a provider', async () => {
  const { providers } = await load({ provider: { name: 'abp', config: { api: 'openai-completions' } } });
  expect(providers).toEqual([['abp', { api: 'openai-completions' }]]);
});

it('registers the servers of the run', async () => {
  const { servers } = await load({ mcpServers: { example: { command: 'x' } } });
  expect(servers).toEqual([['example', { command: 'x' }]]);
});

it('sets members in requests of the wire that has them', async () => {
  const { handlers } = await load({ payload: { 'anthropic-messages': { temperature: 0.5 } } });
  const request = handlers.get('before_provider_request')!;
  expect(request({ payload: { model: 'm' } }, { model: { api: 'anthropic-messages' } })).toEqual({ model: 'm', temperature: 0.5 });
  expect(request({ payload: { model: 'm' } }, { model: { api: 'google-generative-ai' } })).toBeUndefined();
});

it('puts a text before a system prompt of either form', async () => {
  const { handlers } = await load({ systemPromptBefore: 'first' });
  expect(handlers.get('before_agent_start')!({ systemPrompt: 'own' }, {})).toEqual({ systemPrompt: 'first\n\nown' });
  expect(handlers.get('before_agent_start')!({ systemPrompt: ['own'] }, {})).toEqual({ systemPrompt: ['first', 'own'] });
});

it('asks before a tool that changes something and obeys the answer', async () => {
  const { handlers } = await load({ gate: 'ask', harmless: ['read'] });
  const asked: unknown[] = [];
  const answer = (allowed: boolean) => ({ ui: { confirm: async (...args: unknown[]) => asked.push(args) > 0 && allowed } });
  const gate = handlers.get('tool_call')!;
  expect(await gate(CALL, answer(true))).toBeUndefined();
  expect(await gate(CALL, answer(false))).toEqual({ block: true, reason: DENIED });
  expect(await gate({ ...CALL, toolName: 'read' }, answer(false))).toBeUndefined();
  expect(asked).toEqual(Array(2).fill([GATE_TITLE, '{"toolCallId":"call_1","toolName":"write","input":{"path":"a"}}']));
});

it('shows every tool to the hook and blocks what it does not let', async () => {
  const { handlers } = await load({ watched: true });
  const asked: unknown[] = [];
  const answer = (value: string | undefined) => ({ ui: { input: async (...args: unknown[]) => (asked.push(args) > 0 ? value : '') } });
  const hook = handlers.get('tool_call')!;
  expect(await hook(CALL, answer(HOOK_LETS))).toBeUndefined();
  expect(await hook(CALL, answer('not that'))).toEqual({ block: true, reason: 'not that' });
  expect(await hook(CALL, answer(undefined))).toEqual({ block: true, reason: DENIED });
  expect(asked).toEqual(Array(3).fill([HOOK_TITLE, '{"toolCallId":"call_1","toolName":"write","input":{"path":"a"}}']));
});

it('refuses where nobody can be asked', async () => {
  const { handlers } = await load({ gate: 'refuse', harmless: [] });
  expect(await handlers.get('tool_call')!(CALL, {})).toEqual({ block: true, reason: REFUSED });
});

it('adds folders with skills', async () => {
  const { handlers } = await load({ skillPaths: ['/skills/foo'] });
  expect(handlers.get('resources_discover')!({}, {})).toEqual({ skillPaths: ['/skills/foo'] });
});
