import type { z } from 'zod';
import { type Json, parseJson } from '../../base/json.ts';
import { packageVersion } from '../../base/own-files.ts';
import { redactor } from '../../base/redact.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import { agentPlaneOf } from '../../gateway/agent-plane/agent-plane.ts';
import type { AgentRoute } from '../../gateway/agent-plane/agent-route.ts';
import { AuditLog } from '../../gateway/audit/audit-log.ts';
import { audited } from '../../gateway/audit/audited.ts';
import { loadConfig } from '../../gateway/config.ts';
import { LiveRoutes } from '../../gateway/live-routes.ts';
import { Reply } from '../../gateway/reply.ts';
import { agentRoutes } from '../../gateway/routes/agents.ts';
import { capabilityRoutes } from '../../gateway/routes/capabilities.ts';
import { secretValues } from '../../gateway/secret-values.ts';
import type { Home } from '../../home/home.ts';
import { openStore } from '../../store/database.ts';
import { warnOfOtherDatabase } from '../backup/database-in-use.ts';
import type { Context } from '../command.ts';
import { withConfig } from '../config.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The API of the agent plane, of a live server or of the home itself. */
export interface AgentApi {
  /** The answer's JSON, or its text where it is none; an error answer is thrown as the error it carries. */
  call(method: Method, path: string, body?: Json): Promise<Json>;
  close(): Promise<void>;
}

const ROUTES: readonly AgentRoute[] = [...agentRoutes, ...capabilityRoutes];

/** The routes of the agent plane on the database of a home that no server serves. A user who can open the home holds its token. */
export async function homeApi({ io, output, configPath }: Context, home: Home): Promise<AgentApi> {
  const { config } = await withConfig(() =>
    loadConfig({ env: io.env, homePath: home.path, ...(configPath !== undefined && { path: configPath }) }),
  );
  warnOfOtherDatabase({ io, output }, home.path, config.database.url);
  const store = await openStore({ home, url: config.database.url });
  const routes = new LiveRoutes(store, config);
  await routes.read();
  const plane = agentPlaneOf(config, { store, routes, version: packageVersion() });
  const { text: clean } = redactor(config.recording.redact, secretValues(config, home.token));
  // The next server of this home seals what is recorded here.
  const audit = new AuditLog({ store, keeper: { sealAudit: async () => 0 }, node: home.nodeId, log: { warn: () => undefined }, clean });
  return {
    call: async (method, path, body) => {
      const url = new URL(path, 'http://home');
      const { route, params } = find(method, url.pathname);
      const call = {
        principal: { kind: 'token' } as const,
        params: parsed(route.params, params, 'path'),
        query: parsed(route.query, Object.fromEntries(url.searchParams), 'query'),
        body: parsed(route.body, body ?? {}, 'request body'),
      };
      const answer = await audited(route, { ...call, gateway: { audit } }, () => route.serve(plane, call));
      return asJson(answer instanceof Reply ? answer.body : answer);
    },
    close: async () => {
      await plane.close();
      await store.close();
    },
  };
}

function find(method: Method, path: string): { route: AgentRoute; params: Record<string, string> } {
  for (const route of ROUTES) {
    const pattern = new RegExp(`^${route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    const match = route.method === method ? pattern.exec(path) : null;
    if (match !== null) {
      return {
        route,
        params: Object.fromEntries(Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)])),
      };
    }
  }
  throw new AbpError('not_found', `There is no path ${path}.`);
}

function parsed(schema: z.ZodType<object> | undefined, value: unknown, what: string): object {
  return schema === undefined ? {} : parseAt(schema, value, what);
}

/** As it would arrive over the wire. */
function asJson(answer: unknown): Json {
  if (typeof answer === 'string') return answer;
  const text = JSON.stringify(answer);
  const value = text === undefined ? undefined : parseJson(text);
  return value?.ok === true ? value.value : null;
}
