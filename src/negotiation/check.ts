import type { Capability } from '../contract/capability.ts';
import type { Outcome } from '../contract/negotiation.ts';
import type { CapabilityManifest, ForeignMinSupport, SupportLevel } from '../contract/support.ts';

/** Whether a level is enough. Restricted counts as emulated; `any` asks for nothing. */
export function satisfies(level: SupportLevel, min: ForeignMinSupport): boolean {
  switch (min) {
    case 'native':
      return level === 'native';
    case 'emulated':
      return level !== 'unsupported';
    case 'any':
      return true;
  }
}

/** Outcomes without a member of their own are shared values: negotiation runs on every request and makes no garbage for them. */
export const NATIVE: Outcome = Object.freeze({ level: 'native' });
const ADAPTED: Outcome = Object.freeze({ level: 'emulated', strategy: 'adapter' });
export const UNSUPPORTED: Outcome = Object.freeze({ level: 'unsupported' });

/** How an emulated or restricted level is provided, in the words of a report. */
export function emulatedOutcome(level: SupportLevel | undefined): Outcome {
  if (typeof level !== 'object') return ADAPTED;
  return { level: 'emulated', strategy: `restricted: ${level.restricted.reason}` };
}

/** Classifies one capability against a manifest; one the manifest does not mention is unsupported. */
export function checkCapability(manifest: CapabilityManifest, capability: Capability): Outcome {
  const level = manifest[capability];
  if (level === undefined || level === 'unsupported') return UNSUPPORTED;
  return level === 'native' ? NATIVE : emulatedOutcome(level);
}
