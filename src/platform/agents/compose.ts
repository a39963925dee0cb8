import { AbpError } from '../../contract/errors.ts';
import type { Requirements } from '../../negotiation/negotiate.ts';
import type { Surroundings } from '../tools/surroundings.ts';
import type { ConflictPolicy } from './agent.ts';
import type { AgentCapability } from './capability.ts';
import { type ComposedTool, type Conflict, settleConflicts } from './conflicts.ts';
import { type CapabilitySource, type Resolved, resolveCapabilities, type Selection } from './resolve.ts';

/** The parts that an agent is composed from. */
export interface Composition {
  /** The agent's own prompt. */
  readonly systemPrompt: string;
  /** Its capabilities, in their order. */
  readonly capabilities: readonly Selection[];
  readonly conflicts: ConflictPolicy;
}

/** A piece of the prompt and who wrote it; `agent` is the agent itself. */
interface PromptPart {
  readonly source: string;
  readonly text: string;
}

/** An agent ready for a turn. */
export interface ComposedAgent {
  readonly systemPrompt: string;
  readonly promptParts: readonly PromptPart[];
  /** Every name once. */
  readonly tools: readonly ComposedTool[];
  readonly capabilities: readonly Resolved[];
  readonly conflicts: readonly Conflict[];
  /** Abilities that its model must have. */
  readonly requirements: Requirements;
  /** Some tool acts on this machine outside a sandbox: a turn needs the token of the home. */
  readonly hostTools: boolean;
  /** Some tools are those of a server that may change them at any time. */
  readonly changing: boolean;
  readonly warnings: readonly string[];
}

export interface ComposeHost {
  readonly source: CapabilitySource;
  readonly surroundings: Surroundings;
  /** Whether tools may be used that act on this machine outside a sandbox: asking for such tools may start a program already. */
  readonly hostAllowed: boolean;
}

/** The agent with its prompt and tools. Throws when its capabilities cannot be put together. */
export async function composeAgent(host: ComposeHost, composition: Composition): Promise<ComposedAgent> {
  const composed = await inspectAgent(host, composition);
  const refused = refusedConflict(composed);
  if (refused !== undefined) throw refused;
  return composed;
}

/** Why an agent cannot have its tools; undefined when it can. */
export function refusedConflict({ conflicts }: Pick<ComposedAgent, 'conflicts'>): AbpError | undefined {
  const refused = conflicts.find(({ outcome }) => outcome === 'refused');
  if (refused === undefined) return undefined;
  const { name, capabilities } = refused;
  return new AbpError(
    'unprocessable',
    `The tool ${name} comes from ${capabilities.join(' and ')}; set conflicts to prefix or prefer, or drop one of them.`,
    { tool: name, capabilities: [...capabilities] },
  );
}

/** Like `composeAgent`, but conflicts that forbid a turn are reported instead of thrown. */
export async function inspectAgent(host: ComposeHost, composition: Composition): Promise<ComposedAgent> {
  const { source, surroundings, hostAllowed } = host;
  const capabilities = await resolveCapabilities(source, composition.capabilities);
  for (const { capability } of capabilities) assertUsable(capability, hostAllowed);
  const brought = await Promise.all(capabilities.map((resolved) => toolsOf(resolved, surroundings)));
  const { tools, conflicts } = settleConflicts(brought.flat(), composition.conflicts);
  const promptParts = promptOf(capabilities, composition.systemPrompt);
  return {
    systemPrompt: promptParts.map(({ text }) => text).join('\n\n'),
    promptParts,
    tools,
    capabilities,
    conflicts,
    requirements: requirementsOf(capabilities, tools),
    hostTools: capabilities.some(({ capability }) => capability.host === true),
    changing: capabilities.some(({ capability }) => capability.changing === true),
    warnings: warningsOf(capabilities, composition.conflicts),
  };
}

function warningsOf(capabilities: readonly Resolved[], conflicts: ConflictPolicy): string[] {
  const deprecated = capabilities.filter(({ capability }) => capability.status === 'deprecated');
  const preferred = conflicts.startsWith('prefer:') ? conflicts.slice('prefer:'.length) : undefined;
  const absent = preferred !== undefined && !capabilities.some(({ capability }) => capability.id === preferred);
  return [
    ...deprecated.map(({ capability }) => `${capability.id} is deprecated.`),
    ...(absent ? [`conflicts prefers ${preferred}, which this agent does not have; the first capability wins.`] : []),
  ];
}

function assertUsable({ id, status, host }: AgentCapability, hostAllowed: boolean): void {
  if (status === 'coming_soon') {
    throw new AbpError('unprocessable', `The capability ${id} is not available yet.`, { capability_id: id, status });
  }
  if (host === true && !hostAllowed) {
    throw new AbpError(
      'forbidden',
      `The capability ${id} runs a program of this machine; that needs the token of the home or an admin key.`,
      {
        capability_id: id,
        scope: 'admin',
      },
    );
  }
}

async function toolsOf({ capability, config }: Resolved, surroundings: Surroundings): Promise<ComposedTool[]> {
  const tools = await capability.tools(config, surroundings);
  return tools.map((tool) => ({ ...tool, source: { capabilityId: capability.id, version: capability.version, name: tool.name } }));
}

/** Additions in their order, then the agent's own words. Nobody is quoted and nothing is marked. */
function promptOf(capabilities: readonly Resolved[], own: string): PromptPart[] {
  const additions = capabilities.flatMap(({ capability }) =>
    capability.systemPrompt === undefined ? [] : [{ source: capability.id, text: capability.systemPrompt }],
  );
  return own === '' ? additions : [...additions, { source: 'agent', text: own }];
}

function requirementsOf(capabilities: readonly Resolved[], tools: readonly ComposedTool[]): Requirements {
  const named = capabilities.flatMap(({ capability }) => capability.requires ?? []);
  const required = new Set([...(tools.length > 0 ? (['tool_use'] as const) : []), ...named]);
  return { required: [...required].map((capability) => ({ capability, min_support: 'emulated' as const })) };
}
