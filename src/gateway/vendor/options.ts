import type { IncomingHttpHeaders } from 'node:http';
import type { RunTerms } from '../../calls/scopes.ts';
import type { Capability } from '../../contract/capability.ts';
import type { TrafficRow } from '../../contract/runs/run-traffic.ts';
import type { CapabilityRequirements, Compatibility } from '../../contract/support.ts';
import { parseCompatibility, parseEmulate, parseRequirements } from '../../mapping/requirements.ts';
import type { ThinkingOverride } from '../../mapping/thinking-override.ts';
import type { Principal } from '../auth/principal.ts';

/** What the caller says about its call in `X-ABP-…` headers, and what its run key settles where they are silent. */
export interface CallOptions {
  readonly engine: string | undefined;
  /** The model of the call, whatever its body says. */
  readonly model: string | undefined;
  readonly compatibility: Compatibility;
  readonly requirements: CapabilityRequirements;
  readonly emulate: readonly Capability[];
  readonly traffic: readonly TrafficRow[];
  readonly thinking: ThinkingOverride | undefined;
  readonly unknownLeaves: 'refuse' | 'report';
}

export function callOptions(headers: IncomingHttpHeaders, principal: Principal): CallOptions {
  const terms = principal.kind === 'key' ? principal.scopes.run : undefined;
  const engine = single(headers['x-abp-engine']) ?? terms?.engine;
  const compatibility = parseCompatibility(single(headers['x-abp-compatibility']) ?? terms?.compatibility);
  const thinking = thinkingOf(terms);
  return {
    engine,
    model: terms?.model ?? undefined,
    compatibility,
    requirements: parseRequirements(single(headers['x-abp-require'])),
    emulate: [...parseEmulate(single(headers['x-abp-emulate'])), ...(compatibility === 'strict' ? [] : (terms?.emulate ?? []))],
    traffic: compatibility === 'strict' ? [] : (terms?.traffic ?? []),
    thinking,
    // A coding agent's requests change with its version; what they hold is reported, not refused.
    unknownLeaves: principal.kind === 'key' && principal.key.kind === 'run' ? 'report' : 'refuse',
  };
}

function thinkingOf(terms: RunTerms | undefined): ThinkingOverride | undefined {
  const { effort, budget_tokens: budgetTokens } = terms?.thinking ?? {};
  if (effort === undefined && budgetTokens === undefined) return undefined;
  return { ...(effort === undefined ? {} : { effort }), ...(budgetTokens === undefined ? {} : { budgetTokens }) };
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
