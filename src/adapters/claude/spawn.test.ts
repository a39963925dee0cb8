import { expect, it } from 'vitest';
import { GATEWAY, planOf } from '../../../test/support/dialogue.ts';
import { catalogue } from './models.ts';
import { spawn } from './spawn.ts';

const BATCH = [
  '--print',
  '--output-format',
  'stream-json',
  '--input-format',
  'stream-json',
  '--verbose',
  '--include-partial-messages',
  '--replay-user-messages',
];
const ASKING = ['--permission-mode', 'default'];

it('leaves the configuration alone without a gateway', () => {
  const spec = spawn(planOf('claude'));
  expect(spec).toEqual({
    args: [...BATCH, ...ASKING],
    env: {},
    files: {},
    stdin: 'open',
    pty: false,
    thinking: { by: 'none', detail: 'nothing was asked for' },
    unhonoured: [],
  });
});

it('reaches the gateway by variables that outrank those of the user', () => {
  const spec = spawn(planOf('claude', {}, { gateway: GATEWAY, modelId: 'claude-opus-5-5' }));
  const env = {
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:8088/e/sim',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    ENABLE_TOOL_SEARCH: 'false',
    ANTHROPIC_AUTH_TOKEN: 'abp_run_key',
  };
  expect(spec.env).toEqual(env);
  expect(spec.args).toEqual([...BATCH, ...ASKING, '--model', 'claude-opus-5-5', '--settings', '/run/claude-settings.json']);
  expect(JSON.parse(spec.files['claude-settings.json'] ?? '')).toEqual({ env, apiKeyHelper: '' });
});

it('keeps tools that are searched for on Claude itself', () => {
  expect(spawn(planOf('claude', {}, { gateway: { ...GATEWAY, engine: 'claude' } })).env).not.toHaveProperty('ENABLE_TOOL_SEARCH');
});

it('keeps the login of the user where the gateway takes it', () => {
  const gateway = { ...GATEWAY, engine: 'claude', origin: 'http://127.0.0.1:8088/k/abp_run_key', ownLogin: true };
  const { env, files } = spawn(planOf('claude', {}, { gateway }));
  expect(env.ANTHROPIC_BASE_URL).toBe('http://127.0.0.1:8088/k/abp_run_key/e/claude');
  expect(env).not.toHaveProperty('ANTHROPIC_AUTH_TOKEN');
  expect(files['claude-settings.json']).not.toContain('apiKeyHelper');
});

it.each([
  ['yolo', ['--dangerously-skip-permissions'], { IS_SANDBOX: '1' }],
  ['prompt', ASKING, {}],
  ['deny', ['--permission-mode', 'dontAsk'], {}],
] as const)('turns %s into a permission mode', (approvalMode, args, env) => {
  const spec = spawn(planOf('claude', { approvalMode }));
  expect(spec.args.slice(BATCH.length, BATCH.length + args.length)).toEqual(args);
  expect(spec.env).toEqual(env);
});

it('asks over its input when somebody answers', () => {
  expect(spawn(planOf('claude', {}, { answerable: true })).args).toEqual([...BATCH, '--permission-prompt-tool', 'stdio', ...ASKING]);
});

it('delivers an effort by the flag, and as a budget to models that take one', () => {
  const { args, env, thinking } = spawn(planOf('claude', { thinkingEffort: 'high' }, { thinking: { budget_tokens: 32_768 } }));
  expect(args).toEqual([...BATCH, ...ASKING, '--effort', 'high', '--settings', '/run/claude-settings.json']);
  expect(env).toEqual({ MAX_THINKING_TOKENS: '32768' });
  expect(thinking).toEqual({ by: 'flag', detail: '--effort high; MAX_THINKING_TOKENS=32768 for models that take a budget' });
});

it('makes room for a budget that the default length of an answer would cut', () => {
  const model = catalogue.models.find(({ thinkingBudgetRange }) => thinkingBudgetRange !== undefined);
  const { env } = spawn(
    planOf('claude', {}, { thinking: { budget_tokens: 40_000 }, ...(model && { model: { ...model, maxOutputTokens: 64_000 } }) }),
  );
  expect(env.CLAUDE_CODE_MAX_OUTPUT_TOKENS).toBe('64000');
});

it('passes on what an override and the sampling options say', () => {
  const { env, args } = spawn(
    planOf('claude', { temperature: 0.3, topK: 5, maxTokens: 4000, thinkingOverride: { future: true } }, { thinking: { future: true } }),
  );
  expect(JSON.parse(env.CLAUDE_CODE_EXTRA_BODY ?? '')).toEqual({ temperature: 0.3, top_k: 5, future: true });
  expect(env.CLAUDE_CODE_MAX_OUTPUT_TOKENS).toBe('4000');
  expect(args).not.toContain('--effort');
  expect(spawn(planOf('claude', { thinkingOverride: { effort: 'xhigh' } }, { thinking: { effort: 'xhigh' } })).args).toContain('xhigh');
});

it.each([
  [{ sessionId: 's' }, ['--resume', 's']],
  [{ forkSessionId: 's' }, ['--resume', 's', '--fork-session']],
  [{ noSession: true }, ['--no-session-persistence']],
  [{ maxTurns: 3, maxBudgetUsd: 0.5 }, ['--max-turns', '3', '--max-budget-usd', '0.5']],
  [{ outputFormat: 'json' as const }, ['--json-schema', '{"type":"object","additionalProperties":true}']],
])('turns %j into flags', (options, args) => {
  expect(spawn(planOf('claude', options)).args).toEqual([...BATCH, ...ASKING, ...args]);
});

it('puts long and secret things into files of the run', () => {
  const spec = spawn(
    planOf('claude', {
      systemPrompt: 'SYS',
      systemPromptMode: 'replace',
      agentsDoc: 'DOC',
      skills: ['/s/fruit', 'pdf'],
      mcpServers: [
        { name: 'a', transport: 'stdio', command: 'node', args: ['x'], env: { SECRET: 's3' } },
        { name: 'b', transport: 'streamable-http', url: 'https://b.example', headers: { authorization: 'Bearer s4' } },
      ],
    }),
  );
  expect(spec.args.slice(BATCH.length + 2)).toEqual([
    '--mcp-config',
    '/run/claude-mcp.json',
    '--system-prompt-file',
    '/run/claude-system-prompt.md',
    '--append-system-prompt-file',
    '/run/claude-append-system-prompt.md',
    '--plugin-dir',
    '/s/fruit',
  ]);
  expect(JSON.parse(spec.files['claude-mcp.json'] ?? '')).toEqual({
    mcpServers: {
      a: { type: 'stdio', command: 'node', args: ['x'], env: { SECRET: 's3' } },
      b: { type: 'http', url: 'https://b.example', headers: { authorization: 'Bearer s4' } },
    },
  });
  expect(spec.files['claude-system-prompt.md']).toBe('SYS');
  expect(spec.files['claude-append-system-prompt.md']).toBe('DOC\n\nUse these skills where they fit: pdf.');
});

it('says what it cannot do', () => {
  const model = catalogue.models.find(({ thinkingBudgetRange }) => thinkingBudgetRange === undefined);
  const plan = planOf(
    'claude',
    { systemPrompt: 'S', systemPromptMode: 'prepend', thinkingBudgetTokens: 5000 },
    { thinking: { budget_tokens: 5000 }, ...(model && { model }) },
  );
  expect(spawn(plan).unhonoured).toEqual([
    { option: 'systemPromptMode', reason: 'the agent has no place before its own prompt; the text stands after it' },
    { option: 'thinkingBudgetTokens', reason: 'the model takes an effort; the nearest is medium' },
  ]);
});

it('renews the system prompt of an earlier session where the version can', () => {
  const options = { sessionId: 's', systemPrompt: 'S' };
  expect(spawn(planOf('claude', options, { version: '2.1.325' })).args).toContain('--system-prompt-snapshot');
  expect(spawn(planOf('claude', options, { version: '2.1.197' })).args).not.toContain('--system-prompt-snapshot');
});

it('opens the screen of the agent with the same settings', () => {
  const spec = spawn(planOf('claude', { prompt: 'hi', noSession: true }, { gateway: GATEWAY, interactive: true }));
  expect(spec.args).toEqual([...ASKING, '--settings', '/run/claude-settings.json', '--', 'hi']);
  expect(spec.pty).toBe(true);
});

it('learns the context window of a model that is not Claude’s', () => {
  const { env, files } = spawn(planOf('claude', {}, { gateway: { ...GATEWAY, engine: 'gpu', contextWindow: 32_768 }, modelId: 'llama' }));
  const told = { CLAUDE_CODE_MAX_CONTEXT_TOKENS: '32768', CLAUDE_CODE_AUTO_COMPACT_WINDOW: '32768' };
  expect(env).toMatchObject(told);
  expect(JSON.parse(files['claude-settings.json'] ?? '').env).toMatchObject(told);
});
