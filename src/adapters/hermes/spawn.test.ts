import { expect, it } from 'vitest';
import { GATEWAY, planOf } from '../../../test/support/dialogue.ts';
import { spawn } from './spawn.ts';

const configIn = (files: Readonly<Record<string, string>>): unknown => JSON.parse(files['hermes/config.yaml'] ?? 'null');

it('leaves the agent alone without a gateway', () => {
  expect(spawn(planOf('hermes'))).toEqual({
    args: ['acp'],
    env: {},
    files: {},
    stdin: 'open',
    pty: false,
    thinking: { by: 'none', detail: 'nothing was asked for' },
    unhonoured: [],
  });
});

it('reaches the gateway by a managed configuration that names the key and does not hold it', () => {
  const spec = spawn(planOf('hermes', { temperature: 0.5 }, { gateway: { ...GATEWAY, dialect: 'claude' }, modelId: 'm' }));
  expect(spec.env).toEqual({ HERMES_MANAGED_DIR: '/run/hermes', ABP_RUN_KEY: 'abp_run_key' });
  expect(JSON.stringify([spec.args, spec.files])).not.toContain('abp_run_key');
  expect(configIn(spec.files)).toMatchObject({
    model: { provider: 'custom', default: 'm', context_length: 200_000 },
    providers: {
      custom: {
        base_url: 'http://127.0.0.1:8088/e/sim',
        key_env: 'ABP_RUN_KEY',
        transport: 'anthropic_messages',
        extra_body: { temperature: 0.5 },
      },
    },
  });
});

it.each([
  ['yolo', { HERMES_YOLO_MODE: '1' }, null],
  ['prompt', { HERMES_MANAGED_DIR: '/run/hermes', HERMES_EXEC_ASK: '1' }, { approvals: { mode: 'manual' } }],
  [
    'deny',
    { HERMES_MANAGED_DIR: '/run/hermes', HERMES_CRON_SESSION: '1' },
    { approvals: { mode: 'manual', cron_mode: 'deny', deny: ['*'] } },
  ],
] as const)('turns %s into what the agent understands', (approvalMode, env, config) => {
  const spec = spawn(planOf('hermes', { approvalMode }));
  expect(spec.env).toEqual(env);
  expect(configIn(spec.files)).toEqual(config);
});

it('shows its own screen when launched', () => {
  const spec = spawn(planOf('hermes', { sessionId: 's1' }, { interactive: true }));
  expect(spec.args).toEqual(['chat', '--resume', 's1', '--query=say hello']);
  expect(spec.pty).toBe(true);
});

it('opens its screen without a prompt when the prompt is blank', () => {
  expect(spawn(planOf('hermes', { prompt: ' ' }, { interactive: true })).args).toEqual(['chat']);
});
