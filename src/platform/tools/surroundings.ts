import type { RunService } from '../../runtime/runs/service.ts';
import type { Outbound } from '../../upstream/outbound.ts';
import type { McpConnections } from '../mcp/connections.ts';
import type { PythonSandbox } from '../sandbox/python.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { SearchProvider } from './search.ts';
import type { Secrets } from './secrets.ts';

/** Means that the server lends to the tools of capabilities. Made once at start. */
export interface Surroundings {
  /** The way to any address that is not a configured engine. */
  readonly outbound: Outbound;
  readonly sandbox: Sandbox;
  readonly python: PythonSandbox;
  /** Undefined where no operator has configured one. */
  readonly search: SearchProvider | undefined;
  readonly secrets: Secrets;
  readonly mcp: McpConnections;
  /** The service that runs coding agents, loaded when it is first asked for; undefined where no gateway is there for them to call. */
  readonly runs: (() => Promise<RunService>) | undefined;
}
