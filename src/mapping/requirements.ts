import { isCapability } from '../contract/capability.ts';
import { AbpError } from '../contract/errors.ts';
import type { CapabilityRequirements, Compatibility } from '../contract/support.ts';

/** `X-ABP-Require: extended_thinking=native, tool_web_search` as requirements; the level defaults to emulated. */
export function parseRequirements(header: string | undefined): CapabilityRequirements {
  const required = (header ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map((item) => {
      const [capability = '', level = 'emulated'] = item.split('=').map((word) => word.trim());
      if (!isCapability(capability)) throw new AbpError('invalid_request', `X-ABP-Require: "${capability}" is not a capability.`);
      if (level !== 'native' && level !== 'emulated')
        throw new AbpError('invalid_request', `X-ABP-Require: "${level}" is neither native nor emulated.`);
      return { capability, min_support: level } as const;
    });
  return { required };
}

/** `X-ABP-Compatibility`; best_effort when the caller does not say. */
export function parseCompatibility(header: string | undefined): Compatibility {
  if (header === undefined || header === 'best_effort') return 'best_effort';
  if (header === 'strict') return 'strict';
  throw new AbpError('invalid_request', `X-ABP-Compatibility: "${header}" is neither strict nor best_effort.`);
}
