import { type CustomCapability, getCustomCapability, listCustomCapabilities } from '../../store/agent-plane/custom-capabilities.ts';
import type { Store } from '../../store/store.ts';
import { customCapability } from '../custom/custom-capability.ts';
import { versionsIn } from '../custom/stored.ts';
import type { AgentCapability } from './capability.ts';
import type { CapabilitySource } from './resolve.ts';

/** Whether somebody may use what belongs to this key (null = made without a key). */
export type Sees = (keyId: string | null) => boolean;

/** Every capability there is: the built-in ones, and those that were defined through the API. */
export class CapabilityRegistry {
  readonly #builtIns: ReadonlyMap<string, AgentCapability>;
  readonly #store: Store;

  constructor(builtIns: readonly AgentCapability[], store: Store) {
    this.#builtIns = new Map(builtIns.map((capability) => [capability.id, capability]));
    this.#store = store;
  }

  isBuiltIn(id: string): boolean {
    return this.#builtIns.has(id);
  }

  /** Each in its current version: the built-in ones first, then the custom ones that may be seen, oldest first. */
  async list(sees: Sees): Promise<readonly AgentCapability[]> {
    const custom = (await listCustomCapabilities(this.#store)).filter(({ keyId }) => sees(keyId));
    const current = await Promise.all(custom.map(async (stored) => currentOf(await newestFirst(capabilitiesOf(stored)))));
    return [...this.#builtIns.values(), ...current.filter((capability) => capability !== undefined)];
  }

  /** Newest first; empty when there is none that may be seen. */
  async versions(id: string, sees: Sees): Promise<readonly AgentCapability[]> {
    const builtIn = this.#builtIns.get(id);
    if (builtIn !== undefined) return [builtIn];
    const stored = await getCustomCapability(this.#store, id);
    return stored === undefined || !sees(stored.keyId) ? [] : await newestFirst(capabilitiesOf(stored));
  }

  /** The capabilities that an agent of this key is composed from: its own capabilities and those without an owner. */
  sourceFor(keyId: string | null): CapabilitySource {
    const sees: Sees = (owner) => owner === null || owner === keyId;
    return {
      versionsOf: (id) => this.versions(id, sees),
      knownIds: async () => (await this.list(sees)).map(({ id }) => id),
    };
  }
}

function capabilitiesOf(stored: CustomCapability): AgentCapability[] {
  return versionsIn(stored).map(customCapability);
}

async function newestFirst(capabilities: readonly AgentCapability[]): Promise<readonly AgentCapability[]> {
  if (capabilities.length < 2) return capabilities;
  const { rcompare } = await import('semver');
  return capabilities.toSorted((a, b) => rcompare(a.version, b.version));
}

/** The version for agents that ask for none, of versions that stand newest first: a preview only where there is nothing else. */
export function currentOf(newestFirst: readonly AgentCapability[]): AgentCapability | undefined {
  return newestFirst.find(({ version }) => !version.includes('-')) ?? newestFirst[0];
}
