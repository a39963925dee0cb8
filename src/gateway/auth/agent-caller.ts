import type { Caller } from '../../platform/agents/agents.ts';
import type { Sees } from '../../platform/agents/registry.ts';
import { maySee } from './access.ts';
import { keyIdOf, type Principal } from './principal.ts';

/** Whoever holds the token of the home or an admin key. */
export function isAdmin(principal: Principal): boolean {
  return principal.kind === 'token' || (principal.kind === 'key' && principal.scopes.admin === true);
}

/** The caller as the agent plane knows it. */
export function callerOf(principal: Principal): Caller {
  return { keyId: keyIdOf(principal), hostAllowed: isAdmin(principal) };
}

/** Capabilities without an owner are everybody's; others are their owner's. */
export function seesCapability(principal: Principal): Sees {
  return (keyId) => keyId === null || maySee(principal, keyId);
}
