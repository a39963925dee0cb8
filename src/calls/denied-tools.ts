import { AbpError } from '../contract/errors.ts';
import { ruleAgainst, type ToolRules, toolDenied } from '../mapping/tools/tool-rules.ts';
import type { Check } from './admission.ts';
import type { CallOwner } from './call.ts';

/** The rules about tools that a call is held to: those of the operator, and those of the run that it is part of. */
export function toolRulesOf(operator: readonly ToolRules[], { scopes }: Pick<CallOwner, 'scopes'>): readonly ToolRules[] {
  const own = scopes?.run?.tools ?? undefined;
  return own === undefined ? operator : [...operator, own];
}

/**
 * Refuses what rules about tools cannot be held on: bytes that nobody here reads, and turns whose agent has a denied tool. What a vendor's
 * SDK offers is seen to where its request is read, and what is called where its answer is.
 */
export function deniedTools(operator: readonly ToolRules[]): Check {
  return {
    name: 'denied tools',
    check: ({ way, owner, tools = [], moreModels }) => {
      const isUnread = way === 'splice' || (way === 'raw' && moreModels === 'unknown');
      if (!isUnread && way !== 'turn') return undefined;
      const rules = toolRulesOf(operator, owner);
      if (rules.length === 0) return undefined;
      if (isUnread) {
        const message = 'Rules about tools are set here, and nobody reads what this call offers and answers.';
        return new AbpError('E005', message, { operation: 'call', policy_rule: 'disallowed_tools' });
      }
      for (const name of tools) {
        const rule = ruleAgainst(rules, name);
        if (rule !== undefined) return toolDenied(name, rule, 'The agent has');
      }
      return undefined;
    },
  };
}
