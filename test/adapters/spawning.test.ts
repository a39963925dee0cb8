import { isAbsolute, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adapters } from '../../src/adapters/index.ts';
import type { RunOptions } from '../../src/contract/runs/run-options.ts';
import { attached, GATEWAY, planOf } from '../support/dialogue.ts';

const SECRETS = [GATEWAY.key, 'hush-env', 'hush-header'];

/** Everything that an adapter may have to write down or hand over. */
const RICH: Partial<RunOptions> = {
  systemPrompt: 'Be brief.',
  agentsDoc: 'Rules.',
  temperature: 0.5,
  maxTurns: 3,
  mcpServers: [
    { name: 'files', transport: 'stdio', command: 'files', args: ['-x'], env: { TOKEN: 'hush-env' } },
    { name: 'web', transport: 'streamable-http', url: 'https://mcp.example/x', headers: { Authorization: 'hush-header' } },
  ],
};

const FORMS = [
  ['a run', planOf('x', RICH, { gateway: GATEWAY })],
  ['a run that asks', planOf('x', { ...RICH, approvalMode: 'prompt' }, { gateway: GATEWAY, answerable: true })],
  ['a run that does all it wants', planOf('x', { ...RICH, approvalMode: 'yolo' }, { gateway: GATEWAY })],
  ['a run without the gateway', planOf('x', RICH)],
  ['the screen of the agent', planOf('x', RICH, { gateway: GATEWAY, interactive: true })],
] as const;

describe.each(adapters.map((adapter) => [adapter.agent, adapter] as const))('%s', (agent, { spawn }) => {
  describe.each(FORMS)('%s', (_, plan) => {
    const spec = spawn({ ...plan, options: { ...plan.options, agent } });

    it('has no secret in its arguments, which every user of the machine can read', () => {
      expect(spec.args.filter((arg) => SECRETS.some((secret) => arg.includes(secret)))).toEqual([]);
    });

    it('writes into the folder of the run and nowhere else', () => {
      const outside = Object.keys({ ...spec.files, ...spec.links }).filter((file) => isAbsolute(file) || normalize(file).startsWith('..'));
      expect(outside).toEqual([]);
    });

    it('is the same each time', () => {
      expect(spawn({ ...plan, options: { ...plan.options, agent } })).toEqual(spec);
    });
  });
});

/** What a caller may write that looks like an option; models and sessions that do so are refused with the options. */
const HOSTILE: Partial<RunOptions> = {
  prompt: '--hostile-prompt --yolo',
  systemPrompt: '--hostile-system',
  agentsDoc: '--hostile-doc',
  mcpServers: [{ name: '--hostile-server', transport: 'streamable-http', url: 'https://mcp.example/x' }],
};

const ATTACHMENTS = [attached('image', '--hostile.png'), attached('text', '--hostile-name', '--hostile-text')];

describe.each(adapters.map((adapter) => [adapter.agent, adapter] as const))('%s with words that look like options', (agent, { spawn }) => {
  it.each([
    ['a run', planOf('x', HOSTILE, { gateway: GATEWAY })],
    ['a run of a prompt alone', planOf('x', { prompt: HOSTILE.prompt ?? '' }, { gateway: GATEWAY })],
    ['a run that replaces the prompt', planOf('x', { ...HOSTILE, systemPromptMode: 'replace' }, { gateway: GATEWAY })],
    ['a run that asks', planOf('x', { ...HOSTILE, approvalMode: 'prompt' }, { gateway: GATEWAY, answerable: true })],
    ['a run without the gateway', planOf('x', HOSTILE)],
    ['the screen of the agent', planOf('x', HOSTILE, { gateway: GATEWAY, interactive: true })],
  ] as const)('takes none of them for one: %s', (_, plan) => {
    const { args } = spawn({ ...plan, attachments: ATTACHMENTS, options: { ...plan.options, agent } });
    const end = args.indexOf('--');
    const options = end === -1 ? args : args.slice(0, end);
    expect(options.filter((arg) => arg.startsWith('--hostile'))).toEqual([]);
  });
});
