import type { Caller } from '../../platform/agents/agents.ts';
import type { Sees } from '../../platform/agents/registry.ts';
import { ALL, type Visible } from '../../store/agent-plane/visible.ts';
import { maySee, seesAll } from './access.ts';
import { keyIdOf, type Principal } from './principal.ts';

/** A caller with the token of the home or an admin key. */
export function isAdmin(principal: Principal): boolean {
  return principal.kind === 'token' || (principal.kind === 'key' && principal.scopes.admin === true);
}

/** A caller sees its own agents and sessions; an admin, and a browser that one has paired, sees all. */
export function visibleTo(principal: Principal): Visible {
  return seesAll(principal) ? ALL : { key: keyIdOf(principal) };
}

/** The caller as the agent plane knows it. */
export function callerOf(principal: Principal): Caller {
  return { keyId: keyIdOf(principal), hostAllowed: isAdmin(principal) };
}

/** Capabilities without an owner are everybody's; others are their owner's. */
export function seesCapability(principal: Principal): Sees {
  return (keyId) => keyId === null || maySee(principal, keyId);
}
