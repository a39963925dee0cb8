import type { SpawnPlan, SpawnSpec, WaitsFor } from '../adapter.ts';
import { type PiKind, piSpawn, piWaitsFor } from '../families/pi/spawn.ts';

const KIND: PiKind = {
  // omp takes the bare name of a variable where pi wants a dollar sign.
  keyReference: (variable) => variable,
  resumeFlag: '--resume',
  levels: { low: 'low', medium: 'medium', high: 'high', max: 'max' },
  readOnlyTools: ['read', 'grep', 'glob', 'todo'],
  // A title would be a model call of its own; its approvals are replaced by the gate of the run.
  batchArgs: ['--no-title', '--approval-mode', 'yolo'],
  quietEnv: { PI_OFFLINE: '1', OMP_SKIP_SETUP: '1' },
};

export function spawn(plan: SpawnPlan): SpawnSpec {
  return piSpawn(KIND, plan);
}

export function waitsFor(plan: SpawnPlan): WaitsFor {
  return piWaitsFor(plan);
}
