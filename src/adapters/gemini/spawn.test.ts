import { expect, it } from 'vitest';
import { attached, GATEWAY, planOf } from '../../../test/support/dialogue.ts';
import { spawn } from './spawn.ts';

const BASE = ['--skip-trust', '--approval-mode', 'default'];
const PROMPT = ['--output-format', 'stream-json'];
const settingsIn = (files: Readonly<Record<string, string>>): unknown =>
  JSON.parse(files['gemini-settings.json'] ?? files['gemini-home/.gemini/settings.json'] ?? 'null');

it('leaves the configuration alone without a gateway', () => {
  expect(spawn(planOf('gemini'))).toEqual({
    args: [...BASE, ...PROMPT],
    env: { GEMINI_CLI_NO_RELAUNCH: 'true' },
    files: {},
    stdin: 'closed',
    input: 'say hello',
    pty: false,
    thinking: { by: 'none', detail: 'nothing was asked for' },
    unhonoured: [],
  });
});

it('reaches the gateway with a home of its own, which shares the sessions of the user', () => {
  const spec = spawn(planOf('gemini', {}, { gateway: GATEWAY, modelId: 'm' }));
  expect(spec.args).toEqual([...BASE, '--model', 'm', ...PROMPT]);
  expect(spec.env).toEqual({
    GEMINI_CLI_HOME: '/run/gemini-home',
    GEMINI_API_KEY: 'abp_run_key',
    GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:8088/e/sim',
    GEMINI_CLI_NO_RELAUNCH: 'true',
  });
  expect(spec.links).toEqual({ 'gemini-home/.gemini/tmp': '.gemini/tmp' });
  expect(Object.keys(spec.files)).toEqual(['gemini-home/.gemini/settings.json']);
  expect(settingsIn(spec.files)).toEqual({
    security: { auth: { selectedType: 'gemini-api-key' } },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    modelConfigs: { customOverrides: [{ match: { model: 'chat-base' }, modelConfig: { generateContentConfig: { topK: null } } }] },
  });
});

it('keeps the sampling of the agent on Gemini itself', () => {
  expect(settingsIn(spawn(planOf('gemini', {}, { gateway: { ...GATEWAY, engine: 'gemini' } })).files)).not.toHaveProperty('modelConfigs');
});

it.each([
  ['yolo', 'yolo'],
  ['prompt', 'default'],
  ['deny', 'plan'],
] as const)('turns %s into the approval mode %s', (approvalMode, mode) => {
  expect(spawn(planOf('gemini', { approvalMode })).args.slice(1, 3)).toEqual(['--approval-mode', mode]);
});

const override = (model: string, config: object): object => ({ match: { model }, modelConfig: { generateContentConfig: config } });

it('gives thinking to each generation of models in its own words, beside the sampling', () => {
  const { files, thinking } = spawn(
    planOf(
      'gemini',
      { thinkingEffort: 'max', temperature: 0.5, maxTokens: 9 },
      { thinking: { thinkingBudget: 50_000 }, modelId: 'other', gateway: { ...GATEWAY, engine: 'gemini' } },
    ),
  );
  expect(settingsIn(files)).toMatchObject({
    modelConfigs: {
      customOverrides: [
        override('chat-base', { temperature: 0.5, maxOutputTokens: 9 }),
        override('chat-base-2.5', { thinkingConfig: { thinkingBudget: 50_000 } }),
        override('chat-base-3', { thinkingConfig: { thinkingLevel: 'HIGH' } }),
        override('other', { thinkingConfig: { thinkingBudget: 50_000 } }),
      ],
    },
  });
  expect(thinking.by).toBe('settings');
});

it('passes an override on as it is', () => {
  const thinking = { includeThoughts: false, thinkingLevel: 'MINIMAL' };
  const { files } = spawn(planOf('gemini', { thinkingOverride: thinking }, { thinking }));
  expect(settingsIn(files)).toMatchObject({
    modelConfigs: {
      customOverrides: [
        override('chat-base-2.5', { thinkingConfig: { includeThoughts: false } }),
        override('chat-base-3', { thinkingConfig: { includeThoughts: false, thinkingLevel: 'MINIMAL' } }),
      ],
    },
  });
});

it('puts instructions into files, and servers into the settings', () => {
  const spec = spawn(
    planOf('gemini', {
      systemPrompt: 'S',
      systemPromptMode: 'replace',
      agentsDoc: 'D',
      mcpServers: [
        { name: 'a', transport: 'stdio', command: 'node', env: { SECRET: 's3' } },
        { name: 'b', transport: 'sse', url: 'https://b.example' },
      ],
    }),
  );
  expect(spec.files['gemini-system.md']).toBe('S');
  expect(spec.env.GEMINI_SYSTEM_MD).toBe('/run/gemini-system.md');
  expect(spec.files['gemini-context/GEMINI.md']).toBe('D');
  expect(settingsIn(spec.files)).toEqual({
    mcpServers: {
      a: { command: 'node', args: [], env: { SECRET: 's3' }, trust: true },
      b: { url: 'https://b.example', headers: {}, trust: true },
    },
    context: { includeDirectories: ['/run/gemini-context'], loadMemoryFromIncludeDirectories: true },
  });
});

it('mentions attached files, whose folders join the workspace', () => {
  const { args, input } = spawn(planOf('gemini', {}, { attachments: [attached('image', 'a b.png'), attached('text', 'c.txt', 'hi')] }));
  expect(args).toEqual([...BASE, ...['--include-directories', '/run/attachments', '--output-format', 'stream-json']]);
  expect(input).toBe('say hello\n\n<attachment name="c.txt">\nhi\n</attachment>\n\n@/run/attachments/a\\ b.png');
});

it('speaks ACP where somebody answers', () => {
  const spec = spawn(planOf('gemini', {}, { answerable: true }));
  expect(spec.args).toEqual(['--acp', ...BASE]);
  expect(spec.stdin).toBe('open');
});

it('never loads an earlier session over ACP, which would empty it', () => {
  const spec = spawn(planOf('gemini', { sessionId: 's' }, { answerable: true }));
  expect(spec.args).toEqual([...BASE, '--resume', 's', ...PROMPT]);
  expect(spec.unhonoured).toEqual([
    { option: 'approvalMode', reason: 'an earlier session cannot ask; what would need an approval is not offered to the model' },
  ]);
  const long = planOf('gemini', { prompt: 'x'.repeat(100_001) });
  expect(spawn(long).input).toHaveLength(100_001);
  expect(() => spawn({ ...long, interactive: true })).toThrow('prompt: is longer than 100000 bytes');
});

it('says that settings of a run on the own login of the user hold for root only', () => {
  const { unhonoured, env } = spawn(planOf('gemini', { thinkingEffort: 'low', topP: 1 }, { thinking: { thinkingBudget: 1024 } }));
  expect(env.GEMINI_CLI_SYSTEM_SETTINGS_PATH).toBe('/run/gemini-settings.json');
  expect(unhonoured.map(({ option }) => option)).toEqual(['thinkingEffort', 'topP']);
});

it('says what it cannot do', () => {
  const options = { noSession: true, skills: ['a'], outputFormat: 'json', systemPrompt: 'S', systemPromptMode: 'prepend' } as const;
  expect(spawn(planOf('gemini', { ...options, skills: ['a'] })).unhonoured.map(({ option }) => option)).toEqual([
    'systemPromptMode',
    'outputFormat',
    'noSession',
    'skills',
  ]);
});

it('opens the screen of the agent', () => {
  const spec = spawn(planOf('gemini', { prompt: 'hi' }, { interactive: true }));
  expect(spec.args).toEqual(['--approval-mode', 'default', '--prompt-interactive=hi']);
  expect(spec.pty).toBe(true);
});

it('does not ask for trust on its own screen either: the answer would be gone with the run', () => {
  expect(spawn(planOf('gemini', { prompt: ' ' }, { gateway: GATEWAY, interactive: true })).args).toEqual(BASE);
});
