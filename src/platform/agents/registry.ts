import { AbpError } from '../../contract/errors.ts';
import { type CustomCapability, customCapabilitiesOf, listCustomCapabilities } from '../../store/agent-plane/custom-capabilities.ts';
import type { Store } from '../../store/store.ts';
import { customCapability } from '../custom/custom-capability.ts';
import { versionsIn } from '../custom/stored.ts';
import type { AgentCapability } from './capability.ts';
import type { CapabilitySource } from './resolve.ts';

/** Whether somebody may use what belongs to this key (null = made without a key). */
export type Sees = (keyId: string | null) => boolean;

/** Somebody who looks for a capability by its id. */
export interface Viewer {
  readonly keyId: string | null;
  readonly sees: Sees;
}

/**
 * The one that an id means for somebody: their own, else the one without an owner, else the only one that they may see. Undefined where
 * there is none; those who see the capabilities of several others must say whose they mean.
 */
export function chosenAmong<T extends { readonly keyId: string | null }>(all: readonly T[], { keyId, sees }: Viewer): T | undefined {
  const seen = all.filter((one) => sees(one.keyId));
  const own = seen.find((one) => one.keyId === keyId) ?? seen.find((one) => one.keyId === null);
  if (own !== undefined || seen.length < 2) return own ?? seen[0];
  const owners = seen.map((one) => one.keyId ?? '');
  throw new AbpError('conflict', `Several keys have such a capability (${owners.join(', ')}); say which by ?owner=.`, { owners });
}

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
  async versions(id: string, viewer: Viewer): Promise<readonly AgentCapability[]> {
    const builtIn = this.#builtIns.get(id);
    if (builtIn !== undefined) return [builtIn];
    const stored = chosenAmong(await customCapabilitiesOf(this.#store, id), viewer);
    return stored === undefined ? [] : await newestFirst(capabilitiesOf(stored));
  }

  /** The capabilities that an agent of this key is composed from: its own capabilities and those without an owner. */
  sourceFor(keyId: string | null): CapabilitySource {
    const sees: Sees = (owner) => owner === null || owner === keyId;
    return {
      versionsOf: (id) => this.versions(id, { keyId, sees }),
      knownIds: async () => [...new Set((await this.list(sees)).map(({ id }) => id))],
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
