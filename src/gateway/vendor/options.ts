import type { IncomingHttpHeaders } from 'node:http';
import { toolRulesOf } from '../../calls/denied-tools.ts';
import type { RunTerms } from '../../calls/scopes.ts';
import type { CallOptions } from '../../calls/vendor/vendor-call.ts';
import { parseCompatibility, parseEmulate, parseRequirements } from '../../mapping/requirements.ts';
import type { ThinkingOverride } from '../../mapping/thinking-override.ts';
import type { ToolRules } from '../../mapping/tools/tool-rules.ts';
import type { Principal } from '../auth/principal.ts';

/** Reads the `X-ABP-…` headers of a call and the terms of its run key. */
export function callOptions(headers: IncomingHttpHeaders, principal: Principal, operator: readonly ToolRules[] = []): CallOptions {
  const terms = principal.kind === 'key' ? principal.scopes.run : undefined;
  const engine = single(headers['x-abp-engine']) ?? terms?.engine;
  // An agent does not talk its caller out of a strict run.
  const wished = terms?.compatibility === 'strict' ? 'strict' : (single(headers['x-abp-compatibility']) ?? terms?.compatibility);
  const compatibility = parseCompatibility(wished);
  const thinking = thinkingOf(terms);
  return {
    engine,
    deployment: namedDeployment(headers),
    session: sessionOf(headers),
    model: terms?.model ?? undefined,
    compatibility,
    requirements: parseRequirements(single(headers['x-abp-require'])),
    emulate: [...parseEmulate(single(headers['x-abp-emulate'])), ...(compatibility === 'strict' ? [] : (terms?.emulate ?? []))],
    traffic: compatibility === 'strict' ? [] : (terms?.traffic ?? []),
    thinking,
    // A coding agent's requests change with its version; what they hold is reported, not refused.
    unknownLeaves: principal.kind === 'key' && principal.key.kind === 'run' ? 'report' : 'refuse',
    toolRules: toolRulesOf(operator, { scopes: principal.kind === 'key' ? principal.scopes : undefined }),
    mayEdit: principal.kind === 'key' && principal.key.kind === 'run',
  };
}

/** The deployment that the caller wants, such as the one that has its files. */
export function namedDeployment(headers: IncomingHttpHeaders): string | undefined {
  return single(headers['x-abp-deployment']);
}

/** Where callers name the session that a call belongs to: ours, then those of coding agents. */
const SESSION_HEADERS = ['x-abp-session', 'x-claude-code-session-id', 'session_id', 'session-id', 'x-session-id', 'x-session-affinity'];

export function sessionOf(headers: IncomingHttpHeaders): string | undefined {
  for (const name of SESSION_HEADERS) {
    const value = headers[name];
    if (value !== undefined) return single(value);
  }
  return undefined;
}

function thinkingOf(terms: RunTerms | undefined): ThinkingOverride | undefined {
  const { effort, budget_tokens: budgetTokens } = terms?.thinking ?? {};
  if (effort === undefined && budgetTokens === undefined) return undefined;
  return { ...(effort === undefined ? {} : { effort }), ...(budgetTokens === undefined ? {} : { budgetTokens }) };
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
