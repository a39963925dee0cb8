import type { JsonObject } from '../../base/json.ts';
import type { Capability } from '../../contract/capability.ts';
import type { Surroundings } from '../tools/surroundings.ts';
import type { Tool } from '../tools/tool.ts';

type CapabilityStatus = 'available' | 'coming_soon' | 'deprecated';

/** Another capability that one needs, in a range of versions. */
export interface CapabilityDependency {
  readonly id: string;
  /** A semantic version range, such as `^1.0.0`. */
  readonly range: string;
}

/** A module of an agent: text for its prompt and tools for its turns. */
export interface AgentCapability {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly status: CapabilityStatus;
  readonly icon?: string;
  readonly category?: string;
  /** Semantic version of what it offers. */
  readonly version: string;
  readonly systemPrompt?: string;
  /** JSON Schema of its settings on an agent; absent when it has none. */
  readonly configSchema?: JsonObject;
  readonly dependencies?: readonly CapabilityDependency[];
  /** Abilities that the model of the agent must have beyond tool use. */
  readonly requires?: readonly Capability[];
  /** Its tools act on this machine outside a sandbox: callers who enable or run it need the token of the home. */
  readonly host?: true;
  /** Its tools are somebody else’s, who may change them at any time. */
  readonly changing?: true;
  /** Its tools under these settings, which fit `configSchema`. */
  tools(config: JsonObject, surroundings: Surroundings): readonly Tool[] | Promise<readonly Tool[]>;
}
