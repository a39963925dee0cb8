import { canonicalText } from '../../base/canonical-json.ts';
import { jsonOf } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import {
  type CapabilityName,
  createCustomCapability,
  customCapabilitiesOf,
  deleteCustomCapability,
  updateCustomCapability,
} from '../../store/agent-plane/custom-capabilities.ts';
import type { AgentPlane } from '../agents/agent-plane.ts';
import { chosenAmong, type Viewer } from '../agents/registry.ts';
import { type CapabilitySource, resolveCapabilities } from '../agents/resolve.ts';
import { checkDefinition } from './check.ts';
import { customCapability } from './custom-capability.ts';
import type { CapabilityDefinition } from './definition.ts';
import { documentWith, versionsIn } from './stored.ts';
import { usersOf } from './users.ts';

const MOST_VERSIONS = 50;

/** A definition and whose it is. */
export interface CustomDefinition {
  readonly keyId: string | null;
  readonly updatedAt: number;
  /** Newest last. */
  readonly versions: readonly CapabilityDefinition[];
}

export async function defineCapability(plane: AgentPlane, keyId: string | null, definition: CapabilityDefinition): Promise<void> {
  if (plane.registry.isBuiltIn(definition.id)) {
    throw new AbpError('conflict', `${definition.id} is a built-in capability.`, { capability_id: definition.id });
  }
  const shared = (await customCapabilitiesOf(plane.store, definition.id)).some((one) => one.keyId === null);
  if (shared) throw new AbpError('conflict', `the capability ${definition.id} exists already`, { capability_id: definition.id });
  await checkDefinition(definition, plane.surroundings);
  await assertNoCircle(plane, keyId, definition);
  const document = documentWith([definition]);
  await createCustomCapability(plane.store, { id: definition.id, keyId, document, createdAt: plane.clock.now() });
}

/** The stored definition that an id means for somebody; undefined for a built-in capability and for none. */
export async function findDefinition(plane: AgentPlane, id: string, viewer: Viewer): Promise<CustomDefinition | undefined> {
  const stored = chosenAmong(await customCapabilitiesOf(plane.store, id), viewer);
  return stored === undefined ? undefined : { keyId: stored.keyId, updatedAt: stored.updatedAt, versions: versionsIn(stored) };
}

/** Adds a version. What has been published under a version stays what it is: agents may rely on it. */
export async function publishVersion(plane: AgentPlane, found: CustomDefinition, definition: CapabilityDefinition): Promise<void> {
  const { id, version } = definition;
  await checkDefinition(definition, plane.surroundings);
  const existing = found.versions.find((one) => one.version === version);
  if (existing !== undefined) {
    if (sameDefinition(existing, definition)) return;
    throw new AbpError('conflict', `Version ${version} of ${id} exists and is another; raise the version.`, { capability_id: id, version });
  }
  await assertNoCircle(plane, found.keyId, definition);
  if (found.versions.length >= MOST_VERSIONS) throw new AbpError('conflict', `${id} has ${MOST_VERSIONS} versions, which is the most.`);
  const changed = await updateCustomCapability(
    plane.store,
    { id, keyId: found.keyId },
    {
      document: documentWith([...found.versions, definition]),
      updatedAt: plane.clock.now(),
      ifUpdatedAt: found.updatedAt,
    },
  );
  if (changed === undefined) throw new AbpError('conflict', `The capability ${id} was changed by somebody else.`, { capability_id: id });
}

/** Removes every version, unless an agent or another capability needs it. */
export async function removeCapability(plane: AgentPlane, { id, keyId }: CapabilityName): Promise<void> {
  const { agents, capabilities } = await usersOf(plane.store, { id, keyId });
  const dependents = capabilities.map((one) => one.id);
  if (agents.length + dependents.length > 0) {
    throw new AbpError('conflict', `${id} is in use by ${[...agents, ...dependents].slice(0, 10).join(', ')}.`, {
      agents: [...agents],
      capabilities: dependents,
    });
  }
  await deleteCustomCapability(plane.store, { id, keyId });
}

/** A circle would stop every agent that has one of its members. What does not exist yet may be defined later. */
async function assertNoCircle(plane: AgentPlane, keyId: string | null, definition: CapabilityDefinition): Promise<void> {
  const { id, version } = definition;
  const source = plane.registry.sourceFor(keyId);
  const versionsOf: CapabilitySource['versionsOf'] = async (wanted) =>
    wanted === id ? [customCapability(definition)] : await source.versionsOf(wanted);
  try {
    await resolveCapabilities({ ...source, versionsOf }, [{ id, version }]);
  } catch (error) {
    if (!AbpError.is(error) || error.details.circle !== undefined) throw error;
  }
}

function sameDefinition(one: CapabilityDefinition, other: CapabilityDefinition): boolean {
  // Both were parsed from JSON by the same schema.
  return canonicalText(jsonOf(one)) === canonicalText(jsonOf(other));
}
