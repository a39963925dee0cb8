import { AbpError } from '../../contract/errors.ts';
import type { Agent } from '../../platform/agents/agent.ts';
import { agentOf } from '../../platform/agents/agent.ts';
import { agentFromMarkdown, agentToMarkdown } from '../../platform/agents/agent-markdown.ts';
import type { AgentPlane } from '../../platform/agents/agent-plane.ts';
import {
  changeAgent,
  compositionOf,
  createAgent,
  removeAgent,
  requireAgent,
  setCapabilities,
  withCapabilities,
} from '../../platform/agents/agents.ts';
import { removeSessionsOf } from '../../platform/sessions/sessions.ts';
import { listCapabilitiesOf } from '../../store/agent-plane/agent-capabilities.ts';
import { listAgents } from '../../store/agent-plane/agents.ts';
import { isVisible } from '../../store/agent-plane/visible.ts';
import { defineAgentRoute } from '../agent-plane/agent-route.ts';
import {
  AgentDraft,
  AgentImport,
  AgentList,
  AgentListQuery,
  AgentParams,
  AgentPatch,
  AgentPreview,
  AgentView,
  CapabilityAssignment,
  CapabilityItems,
  DraftPreview,
  NewAgent,
} from '../api/agents.ts';
import { callerOf, visibleTo } from '../auth/agent-caller.ts';
import type { Principal } from '../auth/principal.ts';
import { Reply } from '../reply.ts';
import { draftPreview, previewOf } from './agents-preview.ts';
import { agentView, changesOf, inputOf, itemsOf, selectionsOf } from './agents-view.ts';

/** The agent, as if there were none where the caller may not see it. */
async function visible(plane: AgentPlane, principal: Principal, id: string): Promise<Agent> {
  const agent = await requireAgent(plane, id);
  if (!isVisible(agent.keyId, visibleTo(principal))) throw new AbpError('not_found', `There is no agent ${id}.`, { agent_id: id });
  return agent;
}

export const agentRoutes = [
  defineAgentRoute({
    method: 'POST',
    path: '/v1/agents',
    summary: 'A new agent.',
    audit: { action: 'agent.create' },
    body: NewAgent,
    response: AgentView,
    serve: async (plane, { principal, body }) => new Reply(201, agentView(await createAgent(plane, callerOf(principal), inputOf(body)))),
  }),
  defineAgentRoute({
    method: 'GET',
    path: '/v1/agents',
    summary: 'Agents, newest first; a caller sees its own.',
    query: AgentListQuery,
    response: AgentList,
    serve: async (plane, { principal, query }) => {
      const page = await listAgents(plane.store, { ...query, visible: visibleTo(principal) });
      const capabilities = await listCapabilitiesOf(
        plane.store,
        page.items.map(({ id }) => id),
      );
      const items = page.items.map((stored) =>
        agentView({ agent: agentOf(stored), capabilities: capabilities.get(stored.id) ?? [], warnings: [] }),
      );
      return { items, ...(page.next_cursor === undefined ? {} : { next_cursor: page.next_cursor }) };
    },
  }),
  defineAgentRoute({
    method: 'POST',
    path: '/v1/agents/import',
    summary: 'A new agent from Markdown with YAML front matter, as JSON {markdown} or as text/markdown.',
    audit: { action: 'agent.import' },
    body: AgentImport,
    takesMarkdown: true,
    response: AgentView,
    serve: async (plane, { principal, body }) =>
      new Reply(201, agentView(await createAgent(plane, callerOf(principal), await agentFromMarkdown(body.markdown)))),
  }),
  defineAgentRoute({
    method: 'POST',
    path: '/v1/agents/preview',
    summary: 'The same preview of an agent that is being put together; nothing is stored.',
    body: AgentDraft,
    response: DraftPreview,
    serve: async (plane, { principal, body }) => {
      const { system_prompt: systemPrompt, model, conflicts, capabilities } = body;
      const composition = { systemPrompt, conflicts, capabilities: selectionsOf(capabilities) };
      return await draftPreview(plane, callerOf(principal), model, composition);
    },
  }),
  defineAgentRoute({
    method: 'GET',
    path: '/v1/agents/{agent_id}',
    summary: 'One agent.',
    params: AgentParams,
    response: AgentView,
    serve: async (plane, { principal, params }) =>
      agentView(await withCapabilities(plane, await visible(plane, principal, params.agent_id))),
  }),
  defineAgentRoute({
    method: 'PATCH',
    path: '/v1/agents/{agent_id}',
    summary: 'Changes what is named and leaves the rest. An archived agent can only be made active.',
    audit: { action: 'agent.change' },
    params: AgentParams,
    body: AgentPatch,
    response: AgentView,
    serve: async (plane, { principal, params, body }) => {
      const { id } = await visible(plane, principal, params.agent_id);
      return agentView(await changeAgent(plane, callerOf(principal), id, changesOf(body)));
    },
  }),
  defineAgentRoute({
    method: 'DELETE',
    path: '/v1/agents/{agent_id}',
    summary: 'Archives an agent; deletes an archived one with its sessions.',
    audit: { action: 'agent.archive' },
    params: AgentParams,
    serve: async (plane, { principal, params, sessions }) => {
      const { id } = await visible(plane, principal, params.agent_id);
      const endSessions = sessions && ((agentId: string) => removeSessionsOf(sessions.parts, sessions.worker, agentId));
      await removeAgent(plane, callerOf(principal), id, endSessions);
      return new Reply(204, undefined);
    },
  }),
  defineAgentRoute({
    method: 'GET',
    path: '/v1/agents/{agent_id}/capabilities',
    summary: 'The capabilities of an agent, in their order.',
    params: AgentParams,
    response: CapabilityItems,
    serve: async (plane, { principal, params }) => itemsOf(await withCapabilities(plane, await visible(plane, principal, params.agent_id))),
  }),
  defineAgentRoute({
    method: 'PUT',
    path: '/v1/agents/{agent_id}/capabilities',
    summary: 'Sets the capabilities of an agent; the order of the list is their position.',
    audit: { action: 'agent.capabilities' },
    params: AgentParams,
    body: CapabilityAssignment,
    response: CapabilityItems,
    serve: async (plane, { principal, params, body }) => {
      const { id } = await visible(plane, principal, params.agent_id);
      const wanted = { capabilities: selectionsOf(body.capabilities), conflicts: body.conflicts };
      return itemsOf(await setCapabilities(plane, callerOf(principal), id, wanted));
    },
  }),
  defineAgentRoute({
    method: 'GET',
    path: '/v1/agents/{agent_id}/preview',
    summary: 'The prompt and the tools of a turn, where each came from, and what the model makes of them.',
    params: AgentParams,
    response: AgentPreview,
    serve: async (plane, { principal, params }) => previewOf(plane, callerOf(principal), await visible(plane, principal, params.agent_id)),
  }),
  defineAgentRoute({
    method: 'GET',
    path: '/v1/agents/{agent_id}/export',
    summary: 'The agent as Markdown with YAML front matter.',
    params: AgentParams,
    serve: async (plane, { principal, params }) => {
      const agent = await visible(plane, principal, params.agent_id);
      const { capabilities } = await compositionOf(plane, agent);
      return new Reply(200, await agentToMarkdown(agent, capabilities), { 'content-type': 'text/markdown; charset=utf-8' });
    },
  }),
];
