import { expect, it } from 'vitest';
import { attached, GATEWAY, planOf } from '../../../test/support/dialogue.ts';
import { spawn } from './spawn.ts';

const RUN = ['run', '--format', 'json', '--thinking'];
const configIn = (env: Readonly<Record<string, string>>): unknown => JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? 'null');

it('leaves the agent alone without a gateway', () => {
  const spec = spawn(planOf('opencode'));
  expect(spec).toMatchObject({ args: [...RUN, '--title', 'Agent Backplane'], input: 'say hello' });
  expect(spec.env).toEqual({});
  expect(spec.files).toEqual({});
  expect(spec.stdin).toBe('closed');
});

it('reaches the gateway by a configuration in the environment', () => {
  const spec = spawn(planOf('opencode', { approvalMode: 'yolo' }, { gateway: GATEWAY, modelId: 'm' }));
  expect(spec.args).toEqual([...RUN, '-m', 'abp/m', '--auto', '--title', 'Agent Backplane']);
  expect(JSON.stringify([spec.args, spec.files])).not.toContain('abp_run_key');
  expect(configIn(spec.env)).toMatchObject({
    model: 'abp/m',
    small_model: 'abp/m',
    provider: { abp: { npm: '@ai-sdk/openai-compatible', options: { baseURL: 'http://127.0.0.1:8088/e/sim/v1', apiKey: 'abp_run_key' } } },
    agent: { title: { disable: true } },
  });
});

it.each([
  ['claude', '@ai-sdk/anthropic', '/e/sim/v1', { thinking: { type: 'enabled', budgetTokens: 32_768 } }],
  ['openai-responses', '@ai-sdk/openai', '/e/sim/v1', { reasoningEffort: 'high', reasoningSummary: 'auto' }],
  ['gemini', '@ai-sdk/google', '/e/sim/v1beta', { thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' } }],
  ['openai-chat', '@ai-sdk/openai-compatible', '/e/sim/v1', { reasoningEffort: 'high' }],
])('speaks %s where the engine does, and thinks in its words', (dialect, npm, path, options) => {
  const spec = spawn(planOf('opencode', { thinkingEffort: 'high' }, { gateway: { ...GATEWAY, dialect }, modelId: 'm' }));
  expect(spec.args).toContain('--variant');
  expect(configIn(spec.env)).toMatchObject({
    provider: {
      abp: {
        npm,
        options: { baseURL: `http://127.0.0.1:8088${path}` },
        models: { m: { options, variants: { high: { disabled: true }, abp: options } } },
      },
    },
  });
});

it('gives a Gemini model of 2.5 a budget and a newer one a level', () => {
  const spec = spawn(
    planOf('opencode', { thinkingBudgetTokens: 3000 }, { gateway: { ...GATEWAY, dialect: 'gemini' }, modelId: 'gemini-2.5-pro' }),
  );
  expect(configIn(spec.env)).toMatchObject({
    provider: { abp: { models: { 'gemini-2.5-pro': { options: { thinkingConfig: { thinkingBudget: 3000 } } } } } },
  });
});

it.each([
  ['deny', { '*': 'deny', read: 'allow' }],
  ['prompt', { '*': 'ask', read: 'allow' }],
] as const)('turns %s into permissions, without a gateway too', (approvalMode, permission) => {
  expect(configIn(spawn(planOf('opencode', { approvalMode })).env)).toMatchObject({ permission });
});

it.each([
  [{ answerable: true }, {}],
  [{}, { stream: true }],
])('speaks ACP for %j %j', (plan, options) => {
  const spec = spawn(planOf('opencode', options, plan));
  expect(spec.args).toEqual(['acp']);
  expect(spec.stdin).toBe('open');
});

it('opens sessions and passes files, servers, skills and sampling', () => {
  const options = {
    forkSessionId: 'ses_1',
    mcpServers: [{ name: 'probe', transport: 'stdio', command: 'node', args: ['s.js'] }],
    skills: ['/skills'],
    temperature: 0.5,
    maxTurns: 3,
    systemPrompt: 'after',
  };
  const spec = spawn(planOf('opencode', options as never, { attachments: [attached('image', 'a.png')] }));
  expect(spec.args).toEqual([...RUN, '-s', 'ses_1', '--fork', '-f', '/run/attachments/a.png']);
  expect(spec.files).toEqual({ 'instructions.md': 'after' });
  expect(configIn(spec.env)).toEqual({
    instructions: ['/run/instructions.md'],
    agent: { build: { temperature: 0.5, steps: 3 } },
    mcp: { probe: { type: 'local', command: ['node', 's.js'], environment: {}, enabled: true } },
    skills: { paths: ['/skills'] },
  });
});

it('hands over a prompt that should come first, with what comes after it, and says where it stands', () => {
  const spec = spawn(planOf('opencode', { systemPrompt: 'first', systemPromptMode: 'prepend', agentsDoc: 'rules' }));
  expect(spec.files).toEqual({ 'instructions.md': 'first\n\nrules' });
  expect(configIn(spec.env)).toEqual({ instructions: ['/run/instructions.md'] });
  expect(spec.unhonoured).toEqual([{ option: 'systemPromptMode', reason: 'the agent puts its own prompt first; the text follows it' }]);
});

it('says what it cannot do', () => {
  const options = {
    systemPrompt: 's',
    systemPromptMode: 'prepend',
    topK: 4,
    noSession: true,
    maxTokens: 5,
    thinkingBudgetTokens: 5000,
  } as const;
  expect(spawn(planOf('opencode', options)).unhonoured.map(({ option }) => option)).toEqual([
    'systemPromptMode',
    'thinkingBudgetTokens',
    'topK',
    'noSession',
    'maxTokens',
  ]);
});

it('opens its screen without a prompt when the prompt is blank', () => {
  expect(spawn(planOf('opencode', { prompt: ' ' }, { interactive: true })).args).toEqual([]);
});
