import type { JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { nearName } from '../../contract/near-name.ts';
import type { AgentCapability } from './capability.ts';
import { completeConfig } from './config.ts';

/** Where capabilities come from: every version of an id that may be used, in any order. */
export interface CapabilitySource {
  versionsOf(id: string): Promise<readonly AgentCapability[]>;
  /** For the sentence about an id that does not exist. */
  knownIds(): Promise<readonly string[]>;
}

/** A capability as an agent names it. */
export interface Selection {
  readonly id: string;
  readonly config?: JsonObject | undefined;
  /** A range of versions; absent for any. */
  readonly version?: string | undefined;
}

/** A capability that an agent has, in the version that fits everybody who asks for it. */
export interface Resolved {
  readonly capability: AgentCapability;
  readonly config: JsonObject;
  /** Index in the agent's own list; null when only others brought it. */
  readonly position: number | null;
  /** Capabilities that depend on it. */
  readonly requestedBy: readonly string[];
}

/** Who wants which versions of an id; `agent` stands for the agent itself. */
interface Wish {
  readonly by: string;
  readonly range: string;
}
type Wishes = ReadonlyMap<string, readonly Wish[]>;

const AGENT = 'agent';
const ANY = '*';
const MOST_CAPABILITIES = 100;
/** Each round fixes at least one version; a graph that has not settled by then goes round in circles. */
const MOST_ROUNDS = MOST_CAPABILITIES;

/** The capabilities of an agent with everything they depend on, dependencies first, otherwise in the agent's order. */
export async function resolveCapabilities(source: CapabilitySource, selections: readonly Selection[]): Promise<readonly Resolved[]> {
  const chosen = await chooseVersions(source, selections);
  const wishes = wishesOf(selections, chosen);
  const order = dependencyOrder(
    selections.map(({ id }) => id),
    (id) => (chosen.get(id)?.dependencies ?? []).map((dependency) => dependency.id),
  );
  return await Promise.all(
    order.flatMap((id) => {
      const capability = chosen.get(id);
      const position = selections.findIndex((selection) => selection.id === id);
      if (capability === undefined) return [];
      const requestedBy = (wishes.get(id) ?? []).map(({ by }) => by).filter((by) => by !== AGENT);
      return [resolved(capability, { position: position === -1 ? null : position, requestedBy }, selections[position]?.config)];
    }),
  );
}

async function resolved(
  capability: AgentCapability,
  place: Pick<Resolved, 'position' | 'requestedBy'>,
  config: JsonObject | undefined,
): Promise<Resolved> {
  return { capability, ...place, config: await completeConfig(capability, config) };
}

/** The highest version of each id that fits all wishes. A chosen version brings wishes of its own, so it is done until nothing moves. */
async function chooseVersions(source: CapabilitySource, selections: readonly Selection[]): Promise<Map<string, AgentCapability>> {
  let chosen = new Map<string, AgentCapability>();
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const wishes = wishesOf(selections, chosen);
    if (wishes.size > MOST_CAPABILITIES) throw new AbpError('unprocessable', `An agent has at most ${MOST_CAPABILITIES} capabilities.`);
    const next = new Map<string, AgentCapability>();
    for (const [id, ranges] of wishes) next.set(id, await best(source, id, ranges));
    if (sameVersions(chosen, next)) return next;
    chosen = next;
  }
  throw new AbpError('unprocessable', 'No choice of versions fits all dependencies.', { capabilities: [...chosen.keys()] });
}

function wishesOf(selections: readonly Selection[], chosen: ReadonlyMap<string, AgentCapability>): Wishes {
  const wishes = new Map<string, Wish[]>();
  const add = (id: string, wish: Wish): void => void wishes.set(id, [...(wishes.get(id) ?? []), wish]);
  for (const { id, version = ANY } of selections) add(id, { by: AGENT, range: version });
  for (const capability of chosen.values()) {
    for (const { id, range } of capability.dependencies ?? []) add(id, { by: capability.id, range });
  }
  return wishes;
}

function sameVersions(one: ReadonlyMap<string, AgentCapability>, other: ReadonlyMap<string, AgentCapability>): boolean {
  return one.size === other.size && [...one].every(([id, { version }]) => other.get(id)?.version === version);
}

async function best(source: CapabilitySource, id: string, wishes: readonly Wish[]): Promise<AgentCapability> {
  const versions = await source.versionsOf(id);
  if (versions.length === 0) throw await unknownCapability(source, id, wishes);
  const { rcompare, satisfies, validRange } = await import('semver');
  for (const { range, by } of wishes) {
    if (validRange(range) === null) {
      throw new AbpError('unprocessable', `${by} asks for ${id} in "${range}", which is no range of versions.`, {
        capability_id: id,
        range,
      });
    }
  }
  const newest = versions.toSorted((a, b) => rcompare(a.version, b.version));
  const fits = (includePrerelease: boolean) => (capability: AgentCapability) =>
    wishes.every(({ range }) => satisfies(capability.version, range, { includePrerelease: includePrerelease && range === ANY }));
  // A requirement of any version gets a preview only where there is nothing else.
  const fitting = newest.find(fits(false)) ?? newest.find(fits(true));
  if (fitting !== undefined) return fitting;
  const asked = wishes.map(({ by, range }) => `${by} asks for ${range}`).join(', ');
  const existing = versions.map(({ version }) => version);
  throw new AbpError('unprocessable', `No version of ${id} fits: ${asked}; there is ${existing.join(', ')}.`, {
    capability_id: id,
    versions: existing,
  });
}

async function unknownCapability(source: CapabilitySource, id: string, wishes: readonly Wish[]): Promise<AbpError> {
  const near = nearName(id, await source.knownIds());
  const by = wishes.find((wish) => wish.by !== AGENT)?.by;
  const who = by === undefined ? '' : ` ${by} depends on it.`;
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  return new AbpError('unprocessable', `There is no capability "${id}".${who}${hint}`, { capability_id: id });
}

/**
 * Ids with everything they depend on: what is depended on comes first, and nothing else changes the order that was given. A circle is
 * refused by its path.
 */
export function dependencyOrder(ids: readonly string[], dependenciesOf: (id: string) => readonly string[]): string[] {
  const order: string[] = [];
  const placed = new Set<string>();
  const visit = (id: string, path: readonly string[]): void => {
    if (placed.has(id)) return;
    const start = path.indexOf(id);
    if (start !== -1) {
      const circle = [...path.slice(start), id];
      throw new AbpError('unprocessable', `Capabilities depend on each other in a circle: ${circle.join(' → ')}.`, { circle });
    }
    for (const dependency of dependenciesOf(id)) visit(dependency, [...path, id]);
    placed.add(id);
    order.push(id);
  };
  for (const id of ids) visit(id, []);
  return order;
}
