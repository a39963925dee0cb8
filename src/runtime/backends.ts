import { profiles } from '../adapters/profiles.ts';
import { AbpError } from '../contract/errors.ts';
import type { CapabilityManifest } from '../contract/support.ts';
import { addedEngines, engines } from '../engines/index.ts';
import { adapterManifest } from './adapter-manifest.ts';
import { HOSTS } from './hosts.ts';

/** Something that can execute work and says what it can do. */
export interface Backend {
  /** `engine:claude`, `host:codex`, `adapter:pi`. */
  readonly id: string;
  readonly name: string;
  readonly kind: 'engine' | 'host' | 'adapter';
  readonly manifest: CapabilityManifest;
  /** Other bare names it answers to. */
  readonly aliases: readonly string[];
}

const engineBackend = ({ id, name, manifest, aliases }: (typeof engines)[number]): Backend => ({
  id: `engine:${id}`,
  name,
  kind: 'engine',
  manifest,
  aliases,
});

const backends: readonly Backend[] = [
  ...engines.map(engineBackend),
  ...HOSTS.map(({ id, name, manifest }) => ({ id, name, kind: 'host' as const, manifest, aliases: [] })),
  ...profiles.map((profile) => ({
    id: `adapter:${profile.agent}`,
    name: profile.displayName,
    kind: 'adapter' as const,
    manifest: adapterManifest(profile),
    aliases: [],
  })),
];

export function listBackends(): readonly Backend[] {
  return [...backends, ...addedEngines().map(engineBackend)];
}

function bareName(backend: Backend): string {
  return backend.id.slice(backend.id.indexOf(':') + 1);
}

/** The backend of an id. A bare name is accepted where only one backend has it. */
export function resolveBackend(id: string): Backend {
  const all = listBackends();
  const exact = all.find((backend) => backend.id === id);
  if (exact !== undefined) return exact;
  const named = all.filter((backend) => bareName(backend) === id || backend.aliases.includes(id));
  const [only] = named;
  if (only === undefined) {
    throw new AbpError('not_found', `There is no backend "${id}". Known are ${all.map((backend) => backend.id).join(', ')}.`, {
      backend: id,
    });
  }
  if (named.length > 1) {
    const readings = named.map((backend) => backend.id);
    throw new AbpError('E003', `"${id}" names several backends: ${readings.join(', ')}`, {
      reason: 'ambiguous backend id',
      possible_interpretations: readings,
    });
  }
  return only;
}
