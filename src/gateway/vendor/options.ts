import type { IncomingHttpHeaders } from 'node:http';
import type { Capability } from '../../contract/capability.ts';
import type { CapabilityRequirements, Compatibility } from '../../contract/support.ts';
import { parseCompatibility, parseEmulate, parseRequirements } from '../../mapping/requirements.ts';

/** What the caller says about its call in `X-ABP-…` headers. */
export interface CallOptions {
  readonly engine?: string;
  readonly compatibility: Compatibility;
  readonly requirements: CapabilityRequirements;
  readonly emulate: readonly Capability[];
}

export function callOptions(headers: IncomingHttpHeaders): CallOptions {
  const engine = single(headers['x-abp-engine']);
  return {
    ...(engine === undefined ? {} : { engine }),
    compatibility: parseCompatibility(single(headers['x-abp-compatibility'])),
    requirements: parseRequirements(single(headers['x-abp-require'])),
    emulate: parseEmulate(single(headers['x-abp-emulate'])),
  };
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
