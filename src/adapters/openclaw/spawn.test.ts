import { expect, it } from 'vitest';
import { GATEWAY, planOf } from '../../../test/support/dialogue.ts';
import { spawn } from './spawn.ts';

const EXEC = [
  'agent',
  'exec',
  '--json',
  '--code-mode',
  'direct',
  '--timeout',
  '86400',
  '--cwd',
  '/project',
  '--message-file',
  '/run/prompt.md',
];
const configIn = (files: Readonly<Record<string, string>>): unknown => JSON.parse(files['openclaw.json'] ?? 'null');

it('leaves the agent its own configuration without a gateway', () => {
  const spec = spawn(planOf('openclaw'));
  expect(spec.args).toEqual(EXEC);
  expect(spec.files).toEqual({ 'prompt.md': 'say hello' });
  expect(spec.env).toEqual({});
});

it('reaches the gateway by a configuration of the run that names the key and does not hold it', () => {
  const spec = spawn(planOf('openclaw', { thinkingEffort: 'high' }, { gateway: GATEWAY, modelId: 'm' }));
  expect(spec.args).toEqual([...EXEC, '--config', '/run/openclaw.json', '--model', 'abp/m', '--thinking', 'high']);
  expect(spec.env).toEqual({ ABP_RUN_KEY: 'abp_run_key' });
  expect(JSON.stringify([spec.args, spec.files])).not.toContain('abp_run_key');
  expect(configIn(spec.files)).toMatchObject({
    models: { providers: { abp: { baseUrl: 'http://127.0.0.1:8088/e/sim/v1', api: 'openai-completions', apiKey: `$\{ABP_RUN_KEY}` } } },
  });
  expect(spec.thinking).toEqual({ by: 'flag', detail: '--thinking high' });
});

it.each([
  ['openai-chat', 'xhigh', []],
  ['claude', 'high', ['thinkingEffort']],
] as const)('asks for the highest level that it takes on the wire of %s', (dialect, level, unhonoured) => {
  const spec = spawn(planOf('openclaw', { thinkingEffort: 'max' }, { gateway: { ...GATEWAY, dialect }, modelId: 'm' }));
  expect(spec.args.slice(-2)).toEqual(['--thinking', level]);
  expect(spec.unhonoured.map(({ option }) => option)).toEqual(unhonoured);
});

it.each(['deny', 'prompt'] as const)('offers tools that change nothing for %s', (approvalMode) => {
  const spec = spawn(planOf('openclaw', { approvalMode }, { gateway: GATEWAY }));
  expect(configIn(spec.files)).toMatchObject({ tools: { allow: ['read', 'ls'] } });
});

it('offers every tool by its own name where rules go by names', () => {
  const tools = { allowed: [], denied: ['exec'] };
  expect(configIn(spawn(planOf('openclaw', {}, { gateway: GATEWAY, tools })).files)).toMatchObject({ tools: { toolSearch: false } });
  expect(configIn(spawn(planOf('openclaw', {}, { gateway: GATEWAY })).files)).not.toHaveProperty('tools');
});

it('refuses what it could not hold', () => {
  expect(() => spawn(planOf('openclaw', { approvalMode: 'deny' }))).toThrow('leave out --direct, or use approval yolo');
});

it('passes servers and skills, and puts a system prompt before the prompt', () => {
  const mcpServers = [{ name: 'probe', transport: 'sse', url: 'https://example.com/mcp' }] as never;
  const spec = spawn(planOf('openclaw', { mcpServers, skills: ['/skills'], systemPrompt: 'be brief' }, { gateway: GATEWAY }));
  expect(configIn(spec.files)).toMatchObject({
    mcp: { servers: { probe: { url: 'https://example.com/mcp', headers: {}, transport: 'sse' } } },
    skills: { load: { extraDirs: ['/skills'] } },
  });
  expect(spec.files['prompt.md']).toBe('be brief\n\nsay hello');
  expect(spec.unhonoured).toEqual([
    { option: 'systemPrompt', reason: 'the agent owns its system prompt; the text stands before the prompt' },
  ]);
});

it('opens its screen without a prompt when the prompt is blank', () => {
  expect(spawn(planOf('openclaw', { prompt: ' ' }, { interactive: true })).args).toEqual(['tui', '--local']);
});

it('shows its own screen on the folder of the run, with a state that is not the user’s', () => {
  const spec = spawn(planOf('openclaw', { prompt: ' ' }, { gateway: GATEWAY, interactive: true }));
  expect(spec.args).toEqual(['tui', '--local']);
  expect(spec.env).toEqual({
    ABP_RUN_KEY: 'abp_run_key',
    OPENCLAW_CONFIG_PATH: '/run/openclaw.json',
    OPENCLAW_STATE_DIR: '/run/openclaw-state',
  });
  expect(configIn(spec.files)).toMatchObject({ agents: { defaults: { workspace: '/project', skipBootstrap: true } } });
});
