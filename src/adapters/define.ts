import coerce from 'semver/functions/coerce.js';
import gte from 'semver/functions/gte.js';
import type { AgentCapabilities, BuiltInAgentName } from '../contract/runs/coding-agent.ts';
import type { Adapter, DetectRule } from './adapter.ts';

/** What a profile file says of an agent: everything that is data and does not change from run to run. */
export type Profile = Pick<
  Adapter,
  | 'agent'
  | 'displayName'
  | 'cliCommand'
  | 'capabilities'
  | 'summary'
  | 'notes'
  | 'today'
  | 'detect'
  | 'auth'
  | 'messages'
  | 'untold'
  | 'takesInput'
  | 'takesToolRules'
  | 'thinking'
  | 'thinkingToday'
>;

/** What a models file says. */
export type Catalogue = Pick<Adapter, 'models' | 'defaultModelId' | 'modelsAsOf' | 'modelsSource' | 'discover' | 'listing'>;

/** An adapter under the id that is also the name of its folder. */
export interface RegisteredAdapter extends Adapter {
  readonly id: BuiltInAgentName;
}

/** Ties the parts of an adapter together and freezes its data. */
export function defineAdapter(
  parts: { readonly profile: Profile; readonly catalogue: Catalogue } & Pick<
    Adapter,
    'traffic' | 'sessions' | 'waitsFor' | 'wireThinking' | 'spawn' | 'dialogue'
  >,
): RegisteredAdapter {
  const { profile, catalogue, ...driving } = parts;
  return Object.freeze({ id: profile.agent, ...frozen(profile), ...frozen(catalogue), ...driving });
}

/** The value with everything inside it frozen. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}

/** What is true of the CLI from a version on. */
export interface Measured {
  readonly since: string;
  readonly differs: Partial<AgentCapabilities>;
}

/** How an agent is found: the version in what it prints, and what versions differ in from the profile. */
export function detectRule(f: { versionArgs?: readonly string[]; pattern: RegExp; measured?: readonly Measured[] }): DetectRule {
  return {
    versionArgs: f.versionArgs ?? ['--version'],
    version: (output) => f.pattern.exec(output)?.[1],
    effective(version) {
      // Some agents count by date, with leading zeros and a commit at the end.
      const number = coerce(version.replaceAll(/\b0+(?=\d)/g, ''));
      const reached = (f.measured ?? []).filter(({ since }) => number !== null && gte(number, since));
      return Object.assign({}, ...reached.map(({ differs }) => differs));
    },
  };
}
