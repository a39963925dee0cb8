import { homedir } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import { globMatch, pathGlob, pathGlobSize } from '../../base/glob.ts';
import { SYSTEM_PATHS } from '../../confinement/bubblewrap.ts';
import { AbpError } from '../../contract/errors.ts';
import { noPolicy, type PolicyProfile } from '../../contract/work-orders/work-order.ts';

/** Files, tools and hosts that a run may touch. All lists empty allow everything. */
export type Policy = { readonly [K in keyof PolicyProfile]: readonly string[] };

/** A policy as somebody writes it; lists that are left out are empty. */
export type PolicyWish = { readonly [K in keyof Policy]?: readonly string[] | undefined };

export const NO_POLICY: Policy = noPolicy();

const ALLOWLISTS = ['allowed_tools', 'allow_network'] as const;
const DENYLISTS = ['disallowed_tools', 'deny_read', 'deny_write', 'deny_network', 'require_approval_for'] as const;

/** The policy of the operator and the one of a run together: what either denies is denied, what both allow is allowed. */
export function joinPolicies(operator: PolicyWish, run: PolicyWish): Policy {
  const union = (name: keyof Policy): readonly string[] => [...new Set([...(operator[name] ?? []), ...(run[name] ?? [])])];
  const both = (name: (typeof ALLOWLISTS)[number]): readonly string[] => {
    const [theirs, own] = [operator[name] ?? [], run[name] ?? []];
    if (theirs.length === 0 || own.length === 0) return union(name);
    const kept = own.filter((entry) => theirs.some((pattern) => globMatch(pattern, entry)));
    if (kept.length > 0) return kept;
    const message = `The run allows nothing that the operator's ${name} allows, which is ${theirs.join(', ')}.`;
    throw new AbpError('E005', message, { operation: 'run', policy_rule: name });
  };
  return {
    ...NO_POLICY,
    ...Object.fromEntries(ALLOWLISTS.map((name) => [name, both(name)])),
    ...Object.fromEntries(DENYLISTS.map((name) => [name, union(name)])),
  };
}

/** Patterns of paths, by where they lie. */
export interface PathRules {
  /** Relative to the workspace. */
  readonly inside: readonly string[];
  readonly outside: readonly string[];
}

/** Sorts patterns; throws on one that is not well formed. `~` is the home of the user. */
export function pathRules(patterns: readonly string[], workspace: string): PathRules {
  const whole = patterns.map((pattern) => (pattern.startsWith('~/') ? join(homedir(), pattern.slice(2)) : pattern));
  for (const pattern of whole) assertGlob(pattern);
  const isInside = (pattern: string): boolean => !isAbsolute(pattern) || pattern.startsWith(`${workspace}/`);
  return {
    inside: whole.filter(isInside).map((pattern) => (isAbsolute(pattern) ? relative(workspace, pattern) : pattern.replace(/^\.\//, ''))),
    outside: whole.filter((pattern) => !isInside(pattern)),
  };
}

function assertGlob(pattern: string): void {
  try {
    pathGlob(pattern);
  } catch (error) {
    throw new AbpError('invalid_request', `The policy is not valid: ${error instanceof Error ? error.message : String(error)}.`);
  }
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

const notValid = (path: string, why: string): AbpError => new AbpError('invalid_request', `${path} is not valid: ${why}.`, { path });

/** Paths of the system that a pattern covers whole, and whether it also reaches into ones that are always shown. */
export function systemPathsUnder(pattern: string): { readonly hidden: readonly string[]; readonly reachesShown: boolean } {
  const matches = pathGlob(pattern);
  const hidden = SYSTEM_PATHS.filter((path) => path.startsWith('/etc/') && matches(path));
  const start = pattern.search(/[*?[{]/);
  const fixed = start === -1 ? pattern : pattern.slice(0, start);
  const overlaps = SYSTEM_PATHS.filter(
    (path) => !hidden.includes(path) && (fixed.startsWith(`${path}/`) || path === fixed || `${path}/`.startsWith(fixed)),
  );
  return { hidden, reachesShown: overlaps.length > 0 };
}
