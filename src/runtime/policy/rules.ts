import { globMatch, pathGlob, pathGlobSize } from '../../base/glob.ts';
import { hostPattern, withinHosts } from '../../confinement/host-patterns.ts';
import { AbpError } from '../../contract/errors.ts';
import { noPolicy, type PolicyProfile } from '../../contract/work-orders/work-order.ts';

/** Files, tools and hosts that a run may touch. All lists empty allow everything. */
export type Policy = { readonly [K in keyof PolicyProfile]: readonly string[] };

/** A policy as somebody writes it; lists that are left out are empty. */
export type PolicyWish = { readonly [K in keyof Policy]?: readonly string[] | undefined };

export const NO_POLICY: Policy = noPolicy();

const ALLOWLISTS = ['allowed_tools', 'allow_network'] as const;
const DENYLISTS = ['disallowed_tools', 'deny_read', 'deny_write', 'deny_network', 'require_approval_for'] as const;

/** The part of a run's entry that the operator's entry allows. Names of tools are told apart without regard to case. */
const WITHIN: Readonly<Record<(typeof ALLOWLISTS)[number], (pattern: string, entry: string) => string | undefined>> = {
  allowed_tools: (pattern, entry) => (globMatch(pattern.toLowerCase(), entry.toLowerCase()) ? entry : undefined),
  allow_network: withinHosts,
};

/** The policy of the operator and the one of a run together: what either denies is denied, what both allow is allowed. */
export function joinPolicies(operator: PolicyWish, run: PolicyWish): Policy {
  const union = (name: keyof Policy): readonly string[] => [...new Set([...(operator[name] ?? []), ...(run[name] ?? [])])];
  const both = (name: (typeof ALLOWLISTS)[number]): readonly string[] => {
    const [theirs, own] = [operator[name] ?? [], run[name] ?? []];
    if (theirs.length === 0 || own.length === 0) return union(name);
    const kept = own.flatMap((entry) => theirs.flatMap((pattern) => WITHIN[name](pattern, entry) ?? []));
    if (kept.length > 0) return [...new Set(kept)];
    const message = `The run allows nothing that the operator's ${name} allows, which is ${theirs.join(', ')}.`;
    throw new AbpError('E005', message, { operation: 'run', policy_rule: name });
  };
  return {
    ...NO_POLICY,
    ...Object.fromEntries(ALLOWLISTS.map((name) => [name, both(name)])),
    ...Object.fromEntries(DENYLISTS.map((name) => [name, union(name)])),
  };
}

/** Of all patterns of one run together, with every alternative: each is compared with every path of a workspace. */
const MOST_CHARACTERS = 65_536;

/** Where a run names paths by patterns. */
interface PatternsOfRun {
  readonly policy?: PolicyWish | undefined;
  readonly workspace?: { readonly include?: readonly string[] | undefined; readonly exclude?: readonly string[] | undefined } | undefined;
}

/** Throws on patterns of a run that are not well formed or too many to compare paths with, before anything is started. */
export function assertPatterns({ policy = {}, workspace = {} }: PatternsOfRun): void {
  const { include = [], exclude = [] } = workspace;
  const { deny_read: denyRead = [], deny_write: denyWrite = [] } = policy;
  assertHosts(policy);
  const named = {
    'workspace.include': include,
    'workspace.exclude': exclude,
    'policy.deny_read': denyRead,
    'policy.deny_write': denyWrite,
  };
  let characters = 0;
  for (const [name, patterns] of Object.entries(named)) {
    for (const [at, pattern] of patterns.entries()) {
      try {
        characters += pathGlobSize(pattern);
        if (characters > MOST_CHARACTERS) throw new Error(`all patterns of a run together stand for at most ${MOST_CHARACTERS} characters`);
        pathGlob(pattern);
      } catch (error) {
        throw notValid(`${name}[${at}]`, error instanceof Error ? error.message : String(error));
      }
    }
  }
}

/** A rule for hosts that no host can match would hold nothing, and its receipt would say that it did. */
function assertHosts(policy: PolicyWish): void {
  for (const name of ['allow_network', 'deny_network'] as const) {
    for (const [at, host] of (policy[name] ?? []).entries()) {
      try {
        hostPattern(host);
      } catch (error) {
        throw notValid(`policy.${name}[${at}]`, error instanceof Error ? error.message : String(error));
      }
    }
  }
}

const notValid = (path: string, why: string): AbpError => new AbpError('invalid_request', `${path} is not valid: ${why}.`, { path });
