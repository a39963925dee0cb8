import { expect, it } from 'vitest';
import { GATEWAY, planOf } from '../../../test/support/dialogue.ts';
import { spawn } from './spawn.ts';

it('asks for no title and leaves approvals to the gate of the run', () => {
  expect(spawn(planOf('omp')).args).toEqual(['-p', '--mode', 'json', '--no-title', '--approval-mode', 'yolo']);
});

it('differs from its twin in a few words', () => {
  const spec = spawn(planOf('omp', { sessionId: 's1', thinkingEffort: 'max' }, { gateway: GATEWAY, modelId: 'm' }));
  expect(spec.args.slice(-4)).toEqual(['--thinking', 'max', '--resume', 's1']);
  expect(spec.files['abp-extension.js']).toContain('"apiKey":"ABP_RUN_KEY"');
  expect(spawn(planOf('omp', { approvalMode: 'deny' })).args).toContain('read,grep,glob,todo');
});

it('needs no provider to be set up where the gateway is one', () => {
  expect(spawn(planOf('omp', {}, { gateway: GATEWAY, interactive: true })).env).toMatchObject({ OMP_SKIP_SETUP: '1' });
  expect(spawn(planOf('omp', {}, { interactive: true })).env).toEqual({});
});
