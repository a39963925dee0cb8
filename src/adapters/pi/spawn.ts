import type { SpawnPlan, SpawnSpec, WaitsFor } from '../adapter.ts';
import { type PiKind, piSpawn, piWaitsFor } from '../families/pi/spawn.ts';

const KIND: PiKind = {
  keyReference: (variable) => `$${variable}`,
  resumeFlag: '--session',
  levels: { low: 'low', medium: 'medium', high: 'high', max: 'xhigh' },
  readOnlyTools: ['read', 'grep', 'find', 'ls'],
  batchArgs: [],
  quietEnv: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' },
};

export function spawn(plan: SpawnPlan): SpawnSpec {
  return piSpawn(KIND, plan);
}

export function waitsFor(plan: SpawnPlan): WaitsFor {
  return piWaitsFor(plan);
}
