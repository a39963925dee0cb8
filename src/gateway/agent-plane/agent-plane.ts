import { type AgentPlane, type AgentPlaneOptions, openAgentPlane } from '../../platform/agents/agent-plane.ts';
import type { Secret } from '../../platform/tools/secrets.ts';
import type { Config } from '../config.ts';
import type { LiveRoutes } from '../live-routes.ts';

/** The agent plane as the configuration wants it. Without `runs` its agents have no coding agents as tools. */
export function agentPlaneOf(
  { tools, secrets }: Config,
  { store, routes, version, runs }: { readonly routes: LiveRoutes } & Pick<AgentPlaneOptions, 'store' | 'version' | 'runs'>,
): AgentPlane {
  return openAgentPlane({
    store,
    version,
    runs,
    routes: () => routes.rows,
    allowHosts: tools.allow_hosts,
    secrets: Object.entries(secrets).flatMap(([name, { key, ...terms }]): Secret[] =>
      key === undefined ? [] : [{ name, value: key, ...terms }],
    ),
    ...(tools.search === undefined ? {} : { search: { provider: tools.search, url: tools.search_url, key: tools.search_key } }),
  });
}
