import { type Capability, isCapability } from '../contract/capability.ts';
import { AbpError } from '../contract/errors.ts';
import type { CapabilityRequirements, Compatibility } from '../contract/support.ts';

function items(header: string | undefined): string[] {
  return (header ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function capabilityIn(header: string, name: string): Capability {
  if (!isCapability(name)) throw new AbpError('invalid_request', `${header}: "${name}" is not a capability.`);
  return name;
}

/** `X-ABP-Require: extended_thinking=native, tool_web_search` as requirements; the level defaults to emulated. */
export function parseRequirements(header: string | undefined): CapabilityRequirements {
  const required = items(header).map((item) => {
    const [name = '', level = 'emulated'] = item.split('=').map((word) => word.trim());
    if (level !== 'native' && level !== 'emulated') {
      throw new AbpError('invalid_request', `X-ABP-Require: "${level}" is neither native nor emulated.`);
    }
    return { capability: capabilityIn('X-ABP-Require', name), min_support: level } as const;
  });
  return { required };
}

/** `X-ABP-Emulate: extended_thinking` names what may be approximated. */
export function parseEmulate(header: string | undefined): Capability[] {
  return items(header).map((name) => capabilityIn('X-ABP-Emulate', name));
}

/** `X-ABP-Compatibility`; best_effort when the caller does not say. */
export function parseCompatibility(header: string | undefined): Compatibility {
  if (header === undefined || header === 'best_effort') return 'best_effort';
  if (header === 'strict') return 'strict';
  throw new AbpError('invalid_request', `X-ABP-Compatibility: "${header}" is neither strict nor best_effort.`);
}
