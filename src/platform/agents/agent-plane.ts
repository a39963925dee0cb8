import { type Clock, systemClock } from '../../base/clock.ts';
import type { RouteRow } from '../../mapping/route.ts';
import type { Store } from '../../store/store.ts';
import { Outbound } from '../../upstream/outbound.ts';
import { builtIns } from '../capabilities/index.ts';
import { McpConnections } from '../mcp/connections.ts';
import { PythonSandbox } from '../sandbox/python.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { createSearch, type SearchOptions } from '../tools/search.ts';
import { type Secret, Secrets } from '../tools/secrets.ts';
import type { Surroundings } from '../tools/surroundings.ts';
import type { AgentCapability } from './capability.ts';
import { CapabilityRegistry } from './registry.ts';

export interface AgentPlaneOptions {
  readonly store: Store;
  readonly version: string;
  /** The route table, for models that are named without an engine. */
  readonly routes?: () => readonly RouteRow[];
  /** Hosts that tools may reach although they are private. */
  readonly allowHosts?: readonly string[];
  readonly search?: SearchOptions | undefined;
  readonly secrets?: readonly Secret[];
  readonly runs?: Surroundings['runs'];
  /** Default: the seven of this package. */
  readonly builtIns?: readonly AgentCapability[];
  readonly clock?: Clock;
}

/** Agents and their capabilities, on one store. Nothing is loaded or opened before it is used. */
export interface AgentPlane {
  readonly store: Store;
  readonly registry: CapabilityRegistry;
  readonly surroundings: Surroundings;
  /** The route table as it is now. */
  readonly routes: readonly RouteRow[];
  readonly clock: Clock;
  /** Whether an agent runs programs of this machine, by its id; an agent that has changed is looked at again. */
  readonly onHost: Map<string, { readonly revision: number; readonly host: boolean }>;
  /** Ends connections and processes of tools. */
  close(): Promise<void>;
}

export function openAgentPlane(options: AgentPlaneOptions): AgentPlane {
  const outbound = new Outbound({ allow: options.allowHosts ?? [] });
  const mcp = new McpConnections(outbound, options.version);
  return {
    store: options.store,
    registry: new CapabilityRegistry(options.builtIns ?? builtIns, options.store),
    surroundings: {
      outbound,
      mcp,
      sandbox: new Sandbox(),
      python: new PythonSandbox(),
      search: options.search === undefined ? undefined : createSearch(options.search),
      secrets: new Secrets(options.secrets),
      runs: options.runs,
    },
    get routes() {
      return options.routes?.() ?? [];
    },
    clock: options.clock ?? systemClock,
    onHost: new Map(),
    close: async () => {
      await mcp.close();
      await outbound.close();
    },
  };
}
