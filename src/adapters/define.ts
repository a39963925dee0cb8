import type { SemVer } from 'semver';
import coerce from 'semver/functions/coerce.js';
import gt from 'semver/functions/gt.js';
import gte from 'semver/functions/gte.js';
import lt from 'semver/functions/lt.js';
import type { AgentCapabilities, AgentName } from '../contract/runs/coding-agent.ts';
import type { Adapter, DetectRule } from './adapter.ts';

/** The part of an adapter that its `profile.ts` holds: data that does not change from run to run. */
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
  | 'attachments'
  | 'waits'
  | 'untold'
  | 'takesInput'
  | 'takesToolRules'
  | 'reservesMb'
  | 'thinking'
  | 'thinkingToday'
>;

/** The part of an adapter that its `models.ts` holds. */
export type Catalogue = Pick<Adapter, 'models' | 'defaultModelId' | 'modelsAsOf' | 'modelsSource' | 'discover' | 'listing'>;

/** An adapter under the id that is also the name of its folder. */
export interface RegisteredAdapter extends Adapter {
  readonly id: AgentName;
}

/** Ties the parts of an adapter together and freezes its data. */
export function defineAdapter(
  parts: { readonly profile: Profile; readonly catalogue: Catalogue } & Pick<
    Adapter,
    'traffic' | 'sessions' | 'waitsFor' | 'spawn' | 'dialogue'
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

/** A fact about the CLI that holds from a version on. */
interface Measured {
  readonly since: string;
  readonly differs: Partial<AgentCapabilities>;
}

/** The versions that the real agent was tried with; those in between are taken to be like them. */
interface TestedVersions {
  readonly oldest: string;
  readonly newest: string;
}

export interface DetectFacts {
  readonly versionArgs?: readonly string[];
  readonly pattern: RegExp;
  /** Absent: it was never tried. */
  readonly tested?: TestedVersions;
  readonly measured?: readonly Measured[];
}

/** How an agent is found: the version in what it prints, and what versions differ in from the profile. */
export function detectRule({ versionArgs = ['--version'], pattern, tested, measured = [] }: DetectFacts): DetectRule {
  return {
    versionArgs,
    version: (output) => pattern.exec(output)?.[1],
    effective(version) {
      const number = numberOf(version);
      const reached = measured.filter(({ since }) => number !== null && gte(number, since));
      return Object.assign({}, ...reached.map(({ differs }) => differs));
    },
    untested: (version) => (tested === undefined ? undefined : outside(tested, numberOf(version), version)),
  };
}

function outside({ oldest, newest }: TestedVersions, number: SemVer | null, version: string): string | undefined {
  if (number === null) return `version ${version} is none that can be compared with ${newest}, which was tried`;
  if (lt(number, oldest)) return `version ${version} is older than ${oldest}, the oldest one that was tried`;
  return gt(number, newest) ? `version ${version} is newer than ${newest}, the newest one that was tried` : undefined;
}

/** Some agents count by date, with leading zeros and a commit at the end. */
function numberOf(version: string): SemVer | null {
  return coerce(version.replaceAll(/\b0+(?=\d)/g, ''));
}
