import { AbpError } from '../../contract/errors.ts';
import type { AgentPlane } from '../../platform/agents/agent-plane.ts';
import type { AgentCapability } from '../../platform/agents/capability.ts';
import { currentOf, type Viewer } from '../../platform/agents/registry.ts';
import {
  type CustomDefinition,
  defineCapability,
  findDefinition,
  publishVersion,
  removeCapability,
} from '../../platform/custom/custom-capabilities.ts';
import { actsOnHost } from '../../platform/custom/custom-capability.ts';
import { CapabilityDefinition } from '../../platform/custom/definition.ts';
import { assertMayPublish } from '../../platform/sessions/steering.ts';
import { isVisible } from '../../store/agent-plane/visible.ts';
import { defineAgentRoute } from '../agent-plane/agent-route.ts';
import { CapabilityDetail, CapabilityList, CapabilityParams, CapabilityQuery, OwnerQuery } from '../api/agent-capabilities.ts';
import { authorize } from '../auth/access.ts';
import { mayStartPrograms, seesCapability, visibleTo } from '../auth/agent-caller.ts';
import { keyIdOf, type Principal } from '../auth/principal.ts';
import { Reply } from '../reply.ts';
import { capabilityDetail, capabilityView } from './capabilities-view.ts';

type Asked = { readonly version?: string | undefined; readonly owner?: string | undefined };

function unknown(id: string): AbpError {
  return new AbpError('not_found', `There is no capability ${id}.`, { capability_id: id });
}

/** Whose capability an id means for a caller: their own first, or that of the owner they name. */
function viewerOf(principal: Principal, owner?: string): Viewer {
  const sees = seesCapability(principal);
  if (owner === undefined) return { keyId: keyIdOf(principal), sees };
  const keyId = owner === '' ? null : owner;
  return { keyId, sees: (one) => one === keyId && sees(one) };
}

/** The newest version that fits the range, or the current one, and all there are. */
async function choose(
  plane: AgentPlane,
  viewer: Viewer,
  id: string,
  range: string | undefined,
): Promise<[AgentCapability, readonly AgentCapability[]]> {
  const versions = await plane.registry.versions(id, viewer);
  const current = currentOf(versions);
  if (current === undefined) throw unknown(id);
  if (range === undefined) return [current, versions];
  const { satisfies, validRange } = await import('semver');
  if (validRange(range) === null) throw new AbpError('invalid_request', `"${range}" is no range of versions.`);
  const shown = versions.find(({ version }) => satisfies(version, range));
  if (shown !== undefined) return [shown, versions];
  const existing = versions.map(({ version }) => version);
  throw new AbpError('not_found', `No version of ${id} fits ${range}; there is ${existing.join(', ')}.`, {
    capability_id: id,
    versions: existing,
  });
}

async function detail(plane: AgentPlane, principal: Principal, id: string, { version: range, owner }: Asked = {}): Promise<object> {
  const viewer = viewerOf(principal, owner);
  const [shown, versions] = await choose(plane, viewer, id, range);
  const view = await capabilityDetail(plane, { shown, versions, hostAllowed: mayStartPrograms(principal) });
  const custom = await findDefinition(plane, id, viewer);
  const definition = custom?.versions.find(({ version }) => version === shown.version);
  return definition === undefined || !mayChange(principal, custom) ? view : { ...view, definition };
}

/** A program that somebody else's definition starts is the administrator's business. */
function mayChange(principal: Principal, custom: CustomDefinition | undefined): boolean {
  if (mayStartPrograms(principal)) return true;
  return custom !== undefined && isVisible(custom.keyId, visibleTo(principal)) && !custom.versions.some(actsOnHost);
}

/** The definition, for a caller who may change it. */
async function changeable(plane: AgentPlane, principal: Principal, id: string, owner: string | undefined): Promise<CustomDefinition> {
  if (plane.registry.isBuiltIn(id)) throw new AbpError('conflict', `${id} is built in and cannot be changed.`, { capability_id: id });
  const custom = await findDefinition(plane, id, viewerOf(principal, owner));
  if (custom === undefined) throw unknown(id);
  if (mayChange(principal, custom)) return custom;
  throw new AbpError('forbidden', `The capability ${id} belongs to somebody else.`, { capability_id: id, scope: 'admin' });
}

function assertMayDefine(principal: Principal, definition: CapabilityDefinition): void {
  if (actsOnHost(definition)) authorize(principal, 'programs');
}

export const capabilityRoutes = [
  defineAgentRoute({
    method: 'GET',
    path: '/v1/capabilities',
    summary: 'All capabilities: the built-in ones, then the custom ones.',
    response: CapabilityList,
    serve: async (plane, { principal }) => {
      const items = (await plane.registry.list(seesCapability(principal))).map(capabilityView);
      return { items, total: items.length };
    },
  }),
  defineAgentRoute({
    method: 'POST',
    path: '/v1/capabilities',
    summary: 'A new custom capability: HTTP tools, TypeScript tools in the sandbox, coding agents, or an MCP server.',
    audit: { action: 'capability.create' },
    body: CapabilityDefinition,
    response: CapabilityDetail,
    serve: async (plane, { principal, body }) => {
      assertMayDefine(principal, body);
      await defineCapability(plane, keyIdOf(principal), body);
      return new Reply(201, await detail(plane, principal, body.id));
    },
  }),
  defineAgentRoute({
    method: 'GET',
    path: '/v1/capabilities/{capability_id}',
    summary: 'One capability with its prompt and tools.',
    params: CapabilityParams,
    query: CapabilityQuery,
    response: CapabilityDetail,
    serve: (plane, { principal, params, query }) => detail(plane, principal, params.capability_id, query),
  }),
  defineAgentRoute({
    method: 'PUT',
    path: '/v1/capabilities/{capability_id}',
    summary: 'Publishes a version of a custom capability. A version that exists is never changed.',
    audit: { action: 'capability.change' },
    params: CapabilityParams,
    query: OwnerQuery,
    body: CapabilityDefinition,
    response: CapabilityDetail,
    serve: async (plane, { principal, params, query, body }) => {
      if (body.id !== params.capability_id)
        throw new AbpError('unprocessable', `The body defines ${body.id}, not ${params.capability_id}.`);
      const found = await changeable(plane, principal, body.id, query.owner);
      assertMayDefine(principal, body);
      if (!mayStartPrograms(principal)) await assertMayPublish(plane, { id: body.id, keyId: found.keyId });
      await publishVersion(plane, found, body);
      return await detail(plane, principal, body.id, { version: body.version, owner: found.keyId ?? '' });
    },
  }),
  defineAgentRoute({
    method: 'DELETE',
    path: '/v1/capabilities/{capability_id}',
    summary: 'Removes a custom capability that nothing uses, with all its versions.',
    audit: { action: 'capability.delete' },
    params: CapabilityParams,
    query: OwnerQuery,
    serve: async (plane, { principal, params, query }) => {
      const { keyId } = await changeable(plane, principal, params.capability_id, query.owner);
      await removeCapability(plane, { id: params.capability_id, keyId });
      return new Reply(204, undefined);
    },
  }),
];
