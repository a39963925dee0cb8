import { sha256 } from '../../base/canonical-json.ts';
import type { Tool } from '../tools/tool.ts';
import type { ConflictPolicy } from './agent.ts';

/** Where a tool comes from. */
interface ToolSource {
  readonly capabilityId: string;
  readonly version: string;
  /** Its name there; the agent may know it by another. */
  readonly name: string;
}

/** A tool of an agent. */
export interface ComposedTool extends Tool {
  readonly source: ToolSource;
}

/** A name that several capabilities brought. */
export interface Conflict {
  readonly name: string;
  readonly capabilities: readonly string[];
  /** Its fate; `refused` means that the agent cannot be used. */
  readonly outcome: 'refused' | 'prefixed' | 'preferred';
  /** Whose tool was kept, where one was. */
  readonly winner?: string;
}

export interface Settled {
  readonly tools: readonly ComposedTool[];
  readonly conflicts: readonly Conflict[];
}

/** Vendors take no longer names. */
const MAX_NAME = 64;

/** One tool per name. */
export function settleConflicts(tools: readonly ComposedTool[], policy: ConflictPolicy): Settled {
  const byName = Map.groupBy(tools, (tool) => tool.name);
  const clashes = [...byName.values()].filter((group) => group.length > 1);
  if (clashes.length === 0) return { tools, conflicts: [] };
  const conflicts = clashes.map((group) => conflictOf(group, policy));
  if (policy === 'error') return { tools, conflicts };
  if (policy !== 'prefix') {
    const winners = new Map(conflicts.map(({ name, winner }) => [name, winner]));
    const kept = [...byName.values()].flatMap((group) => {
      const winner = winners.get(group[0]?.name ?? '');
      return group.find(({ source }) => winner === undefined || source.capabilityId === winner) ?? [];
    });
    return { conflicts, tools: kept };
  }
  const taken = new Set([...byName].filter(([, group]) => group.length === 1).map(([name]) => name));
  const renamed = tools.map((tool) => {
    if ((byName.get(tool.name)?.length ?? 0) < 2) return tool;
    const name = freeName(tool.source, taken);
    taken.add(name);
    return { ...tool, name };
  });
  return { conflicts, tools: renamed };
}

function conflictOf(group: readonly ComposedTool[], policy: ConflictPolicy): Conflict {
  const capabilities = group.map(({ source }) => source.capabilityId);
  const name = group[0]?.name ?? '';
  if (policy === 'error') return { name, capabilities, outcome: 'refused' };
  if (policy === 'prefix') return { name, capabilities, outcome: 'prefixed' };
  const named = policy === 'prefer' ? undefined : policy.slice('prefer:'.length);
  // The named capability may have no part in this one; then the first wins, as it does when none is named.
  const winner = capabilities.find((id) => id === named) ?? capabilities[0] ?? '';
  return { name, capabilities, outcome: 'preferred', winner };
}

/** `capability__tool`, shortened with a digest where it is too long or not free. */
function freeName({ capabilityId, name }: ToolSource, taken: ReadonlySet<string>): string {
  const full = `${capabilityId}__${name}`;
  let candidate = full;
  for (let attempt = 0; candidate.length > MAX_NAME || taken.has(candidate); attempt += 1) {
    candidate = `${full.slice(0, MAX_NAME - 9)}_${sha256(`${full} ${attempt}`).slice(0, 8)}`;
  }
  return candidate;
}
