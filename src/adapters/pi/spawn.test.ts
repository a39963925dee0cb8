import { expect, it } from 'vitest';
import { attached, GATEWAY, planOf } from '../../../test/support/dialogue.ts';
import { spawn } from './spawn.ts';

const EXTENSION = '/run/abp-extension.js';

/** What stands at the head of the extension file. */
function settings(files: Readonly<Record<string, string>>): unknown {
  return JSON.parse(/^const settings = (.*);$/m.exec(files['abp-extension.js'] ?? '')?.[1] ?? 'null');
}

it('leaves the agent alone without a gateway', () => {
  expect(spawn(planOf('pi'))).toEqual({
    args: ['-p', '--mode', 'json'],
    input: 'say hello',
    env: {},
    files: {},
    stdin: 'closed',
    pty: false,
    thinking: { by: 'none', detail: 'nothing was asked for' },
    unhonoured: [],
  });
});

it('reaches the gateway through an extension of the run, with the key in the environment', () => {
  const spec = spawn(planOf('pi', {}, { gateway: GATEWAY, modelId: 'm' }));
  expect(spec.args).toEqual(['-p', '--mode', 'json', '-e', EXTENSION, '--model', 'abp/m']);
  expect(spec.env).toEqual({ ABP_RUN_KEY: 'abp_run_key', PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' });
  expect(JSON.stringify([spec.args, spec.files])).not.toContain('abp_run_key');
  expect(settings(spec.files)).toMatchObject({
    provider: {
      name: 'abp',
      config: {
        baseUrl: 'http://127.0.0.1:8088/e/sim/v1',
        api: 'openai-completions',
        apiKey: '$ABP_RUN_KEY',
        models: [{ id: 'm', reasoning: true }],
      },
    },
  });
});

it.each([
  ['claude', 'anthropic-messages', 'http://127.0.0.1:8088/e/sim'],
  ['openai-responses', 'openai-responses', 'http://127.0.0.1:8088/e/sim/v1'],
  ['gemini', 'google-generative-ai', 'http://127.0.0.1:8088/e/sim/v1beta'],
])('speaks %s where the engine does', (dialect, api, baseUrl) => {
  const spec = spawn(planOf('pi', {}, { gateway: { ...GATEWAY, dialect } }));
  expect(settings(spec.files)).toMatchObject({ provider: { config: { api, baseUrl } } });
});

it.each([
  [{ sessionId: 's1' }, ['--session', 's1']],
  [{ forkSessionId: 's1' }, ['--fork', 's1']],
  [{ noSession: true }, ['--no-session']],
  [{ thinkingEffort: 'max' }, ['--thinking', 'xhigh']],
  [{ approvalMode: 'deny' }, ['--tools', 'read,grep,find,ls']],
] as const)('passes %j as flags', (options, args) => {
  expect(spawn(planOf('pi', options)).args).toEqual(['-p', '--mode', 'json', ...args]);
});

it.each([
  [{ systemPrompt: 's', agentsDoc: 'd' }, '--append-system-prompt', { 'append-system-prompt.md': 's\n\nd' }],
  [{ systemPrompt: 's', systemPromptMode: 'replace' }, '--system-prompt', { 'system-prompt.md': 's' }],
] as const)('passes %j by a file of the run', (options, flag, files) => {
  const [file = ''] = Object.keys(files);
  expect(spawn(planOf('pi', options))).toMatchObject({ args: ['-p', '--mode', 'json', flag, `/run/${file}`], files });
});

it('is held over standard input when somebody can answer', () => {
  const spec = spawn(planOf('pi', { approvalMode: 'prompt' }, { answerable: true }));
  expect(spec.args).toEqual(['--mode', 'rpc', '-e', EXTENSION]);
  expect(spec.stdin).toBe('open');
  expect(settings(spec.files)).toMatchObject({ gate: 'ask', harmless: ['read', 'grep', 'find', 'ls'] });
});

it('refuses what needs an approval when nobody can answer', () => {
  expect(settings(spawn(planOf('pi', { approvalMode: 'prompt' })).files)).toMatchObject({ gate: 'refuse' });
});

it('registers the servers of the run, each value as it stands, and leaves out what the agent cannot speak to', () => {
  const mcpServers = [
    { name: 'files', transport: 'stdio', command: 'node', args: ['s.js'], env: { TOKEN: '!a$HOME', PRICE: '$$5' } },
    { name: 'web', transport: 'streamable-http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer $X' } },
    { name: 'old', transport: 'sse', url: 'https://example.com/sse' },
  ] as const;
  const { files, unhonoured } = spawn(planOf('pi', { mcpServers: [...mcpServers] as never }));
  expect(settings(files)).toMatchObject({
    mcpServers: {
      files: { exposure: 'direct', command: 'node', args: ['s.js'], env: { TOKEN: '$!a$$HOME', PRICE: '$$$$5' } },
      web: { exposure: 'direct', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer $$X' } },
    },
  });
  expect(settings(files)).not.toHaveProperty('mcpServers.old');
  expect(unhonoured).toEqual([{ option: 'mcpServers', reason: 'the agent does not speak SSE; servers that do are left out' }]);
});

it('keeps a prompt that begins with @ or - a prompt', () => {
  expect(spawn(planOf('pi', { prompt: '@home' }, { interactive: true })).args.slice(-2)).toEqual(['--', ' @home']);
  expect(spawn(planOf('pi', { prompt: '--help' }, { interactive: true })).args.slice(-2)).toEqual(['--', '--help']);
  expect(spawn(planOf('pi', { prompt: '--help' }))).toMatchObject({ args: ['-p', '--mode', 'json'], input: '--help' });
});

it('includes files by their places and sets sampling in the request', () => {
  const options = { temperature: 0.5, topP: 0.9, maxTokens: 100, topK: 4 };
  const spec = spawn(planOf('pi', options, { attachments: [attached('image', 'a.png')] }));
  expect(spec.args.slice(-2)).toEqual(['--', '@/run/attachments/a.png']);
  expect(settings(spec.files)).toMatchObject({
    payload: {
      'openai-completions': { temperature: 0.5, top_p: 0.9, max_completion_tokens: 100 },
      'anthropic-messages': { temperature: 0.5, top_p: 0.9, top_k: 4, max_tokens: 100 },
    },
  });
});

it('says what it cannot do', () => {
  const options = { thinkingEffort: 'max' as const, topK: 4, temperature: 1 };
  expect(spawn(planOf('pi', options, { gateway: { ...GATEWAY, dialect: 'gemini' } })).unhonoured.map(({ option }) => option)).toEqual([
    'thinkingEffort',
    'temperature',
    'topK',
  ]);
});

it('names the level that is nearest to a budget, which its flag does not take', () => {
  const budget = { thinkingBudgetTokens: 5000 };
  expect(spawn(planOf('pi', budget, { gateway: GATEWAY })).thinking).toEqual({ by: 'flag', detail: '--thinking medium' });
  expect(spawn(planOf('pi', budget)).unhonoured).toEqual([
    { option: 'thinkingBudgetTokens', reason: 'the agent takes levels; the nearest is medium' },
  ]);
});

it('shows its own screen when launched', () => {
  const spec = spawn(planOf('pi', {}, { interactive: true, gateway: GATEWAY, modelId: 'm' }));
  expect(spec.args).toEqual(['-e', EXTENSION, '--model', 'abp/m', '--', 'say hello']);
  expect(spec.pty).toBe(true);
});

it('opens its screen without a prompt when the prompt is blank', () => {
  expect(spawn(planOf('pi', { prompt: ' ' }, { interactive: true })).args).toEqual([]);
});
