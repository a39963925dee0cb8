import {
  type CapabilityManifest,
  canEmulate,
  EmulationConfig,
  EmulationEngine,
  generateReport,
  isCompatible,
  negotiate,
  type Requirements,
  type WorkOrder,
  workOrder,
} from 'agent-backplane/contract';

const manifest: CapabilityManifest = { streaming: 'native', tool_use: 'emulated' };
const requirements = { required: [{ capability: 'streaming', min_support: 'native' }] } as const satisfies Requirements;

/** Capabilities that are wanted, held against those of a backend. */
export function negotiated(): readonly [compatible: boolean, summary: string] {
  const result = negotiate(manifest, requirements);
  return [isCompatible(result), generateReport(result).summary];
}

export function emulated(): boolean {
  return canEmulate('extended_thinking') && new EmulationEngine(new EmulationConfig()) instanceof EmulationEngine;
}

export function order(): WorkOrder {
  return workOrder('fix the failing test').requirements(requirements).build();
}
