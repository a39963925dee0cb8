import type { Caller } from '../../platform/agents/agents.ts';
import type { Sees } from '../../platform/agents/registry.ts';
import { ALL, isVisible, type Visible } from '../../store/agent-plane/visible.ts';
import { may, seesAll } from './access.ts';
import { keyIdOf, type Principal } from './principal.ts';

/** A caller who may start programs of this machine. */
export function mayStartPrograms(principal: Principal): boolean {
  return may(principal, 'programs');
}

/** A caller sees its own agents and sessions; an admin, and a browser that one has paired, sees all. */
export function visibleTo(principal: Principal): Visible {
  if (principal.kind === 'paired' && principal.user !== undefined) return { keys: principal.user.keys };
  return seesAll(principal) ? ALL : { key: keyIdOf(principal) };
}

/** The caller as the agent plane knows it. */
export function callerOf(principal: Principal): Caller {
  return { keyId: keyIdOf(principal), hostAllowed: mayStartPrograms(principal) };
}

/** Capabilities without an owner are everybody's; others are their owner's. */
export function seesCapability(principal: Principal): Sees {
  return (keyId) => keyId === null || isVisible(keyId, visibleTo(principal));
}
