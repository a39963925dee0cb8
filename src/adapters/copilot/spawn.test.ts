import { expect, it } from 'vitest';
import { attached, GATEWAY, planOf } from '../../../test/support/dialogue.ts';
import { spawn } from './spawn.ts';

const BASE = ['--output-format', 'json', '--no-color', '--no-ask-user'];
const QUIET = ['--no-auto-update', '--disable-client-telemetry'];

it('leaves the configuration alone without a gateway', () => {
  expect(spawn(planOf('copilot', {}, { modelId: 'gpt-x' }))).toEqual({
    args: [...BASE, '--model', 'gpt-x'],
    input: 'say hello',
    env: {},
    files: {},
    stdin: 'closed',
    pty: false,
    thinking: { by: 'none', detail: 'nothing was asked for' },
    unhonoured: [],
  });
});

it.each([
  ['openai-chat', 'http://127.0.0.1:8088/e/sim/v1', { COPILOT_PROVIDER_TYPE: 'openai', COPILOT_PROVIDER_WIRE_API: 'completions' }],
  ['openai-responses', 'http://127.0.0.1:8088/e/sim/v1', { COPILOT_PROVIDER_TYPE: 'openai', COPILOT_PROVIDER_WIRE_API: 'responses' }],
  ['claude', 'http://127.0.0.1:8088/e/sim', { COPILOT_PROVIDER_TYPE: 'anthropic' }],
  ['gemini', 'http://127.0.0.1:8088/e/sim/v1', { COPILOT_PROVIDER_TYPE: 'openai', COPILOT_PROVIDER_WIRE_API: 'completions' }],
])('speaks to an engine of %s', (dialect, url, wire) => {
  const spec = spawn(planOf('copilot', { maxTokens: 9 }, { gateway: { ...GATEWAY, dialect }, modelId: 'm' }));
  expect(spec.args).toEqual([...BASE, ...QUIET]);
  expect(spec.env).toEqual({
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: url,
    COPILOT_PROVIDER_API_KEY: 'abp_run_key',
    COPILOT_MODEL: 'm',
    COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: '9',
    ...wire,
  });
});

it.each([
  ['yolo', ['--allow-all']],
  ['prompt', []],
  ['deny', ['--deny-tool=shell', '--deny-tool=write']],
] as const)('turns %s into permissions', (approvalMode, args) => {
  expect(spawn(planOf('copilot', { approvalMode })).args).toEqual([...BASE, ...args]);
});

it('delivers an effort by the flag', () => {
  const { args, thinking } = spawn(planOf('copilot', {}, { thinking: { reasoning_effort: 'high' } }));
  expect(args).toEqual([...BASE, '--reasoning-effort', 'high']);
  expect(thinking).toEqual({ by: 'flag', detail: '--reasoning-effort high' });
});

it('puts servers and instructions into files of the run', () => {
  const spec = spawn(
    planOf('copilot', {
      sessionId: 's',
      systemPrompt: 'S',
      agentsDoc: 'D',
      mcpServers: [
        { name: 'a', transport: 'stdio', command: 'node', env: { SECRET: 's3' } },
        { name: 'b', transport: 'streamable-http', url: 'https://b.example' },
      ],
    }),
  );
  expect(spec.args).toEqual([...BASE, '--resume=s', '--additional-mcp-config', '@/run/copilot-mcp.json']);
  expect(JSON.parse(spec.files['copilot-mcp.json'] ?? '')).toEqual({
    mcpServers: {
      a: { type: 'local', command: 'node', args: [], env: { SECRET: 's3' }, tools: ['*'] },
      b: { type: 'http', url: 'https://b.example', headers: {}, tools: ['*'] },
    },
  });
  expect(spec.files['copilot-instructions/.github/instructions/run.instructions.md']).toBe('---\napplyTo: "**"\n---\nS\n\nD\n');
  expect(spec.env).toEqual({ COPILOT_CUSTOM_INSTRUCTIONS_DIRS: '/run/copilot-instructions' });
});

it('attaches files', () => {
  const { args, input } = spawn(planOf('copilot', {}, { attachments: [attached('image', 'a b.png'), attached('text', 'c', 'hi')] }));
  expect(args).toEqual([...BASE, '--attachment', '/run/attachments/a b.png']);
  expect(input).toBe('say hello\n\n<attachment name="c">\nhi\n</attachment>');
});

it('speaks ACP where somebody answers', () => {
  const spec = spawn(planOf('copilot', {}, { answerable: true }));
  expect(spec.args).toEqual(['--acp']);
  expect(spec.stdin).toBe('open');
});

it('says what it cannot do', () => {
  const options = { systemPrompt: 'S', systemPromptMode: 'replace', topK: 1, maxTokens: 2, noSession: true, outputFormat: 'json' } as const;
  expect(spawn(planOf('copilot', options, { thinking: { x: 1 } })).unhonoured.map(({ option }) => option)).toEqual([
    'systemPromptMode',
    'thinkingOverride.x',
    'topK',
    'maxTokens',
    'noSession',
    'outputFormat',
  ]);
});

it('opens the screen of the agent', () => {
  const spec = spawn(planOf('copilot', { prompt: 'hi' }, { interactive: true }));
  expect(spec.args).toEqual(['--interactive=hi']);
  expect(spec.pty).toBe(true);
});
