import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { CapabilityDetail, CapabilityList } from '../../../../src/gateway/api/agent-capabilities.ts';
import type { DraftPreview } from '../../../../src/gateway/api/agents.ts';
import { get, getText, send } from '../../api/client.ts';
import type { AgentPreview, Agents, AgentView, Messages, Sessions } from '../../api/types.ts';

export type Capabilities = z.infer<typeof CapabilityList>;
export type Capability = z.infer<typeof CapabilityDetail>;
export type Preview = z.infer<typeof DraftPreview>;
export type Session = Sessions['items'][number];
export type Message = Messages['items'][number];

export const agentsQuery = queryOptions({
  queryKey: ['agents'],
  queryFn: () => get<Agents>('/v1/agents?status=active&limit=200'),
  refetchInterval: 10_000,
});

export const sessionsQuery = (agent: string | undefined) =>
  queryOptions({
    queryKey: ['sessions', agent],
    queryFn: () => get<Sessions>(`/v1/sessions?agent_id=${agent}&limit=100`),
    enabled: agent !== undefined,
    refetchInterval: 3000,
  });

/** One that the list does not reach, such as an archived agent that a link names. */
export const agentQuery = (id: string | undefined) =>
  queryOptions({ queryKey: ['agent', id], queryFn: () => get<AgentView>(`/v1/agents/${id}`), retry: false });

/** One that the list does not reach, such as an old one that a link names. */
export const sessionQuery = (id: string | undefined) =>
  queryOptions({ queryKey: ['session-of', id], queryFn: () => get<Session>(`/v1/sessions/${id}`), refetchInterval: 3000, retry: false });

/** Sessions that wait for somebody or work, of every agent. */
export const busyQuery = (status: 'waiting' | 'active') =>
  queryOptions({
    queryKey: ['sessions', 'all', status],
    queryFn: () => get<Sessions>(`/v1/sessions?status=${status}&limit=200`),
    refetchInterval: 3000,
  });

export const messagesQuery = (session: string | undefined) =>
  queryOptions({
    queryKey: ['messages', session],
    queryFn: () => get<Messages>(`/v1/sessions/${session}/messages?limit=1000`),
    enabled: session !== undefined,
  });

export const previewQuery = (agent: string) =>
  queryOptions({ queryKey: ['preview', agent], queryFn: () => get<AgentPreview>(`/v1/agents/${agent}/preview`), retry: false });

/** A capability as it is chosen, with its settings. */
export interface Chosen {
  readonly id: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** An agent that is being put together. */
export interface Draft {
  readonly name: string;
  readonly model: string;
  readonly prompt: string;
  readonly conflicts: string;
  readonly capabilities: readonly Chosen[];
}

function composition({ model, prompt, conflicts, capabilities }: Draft): object {
  return { system_prompt: prompt, model: model.trim() === '' ? null : model.trim(), conflicts, capabilities: capabilities.map(choice) };
}

function choice({ id, config }: Chosen): unknown {
  return Object.keys(config).length === 0 ? id : { capability_id: id, config };
}

/** What the server makes of a draft; nothing is stored. */
export const draftQuery = (draft: Draft) =>
  queryOptions({
    queryKey: ['draft', composition(draft)],
    queryFn: ({ signal }) => send<Preview>('POST', '/v1/agents/preview', composition(draft), signal),
    placeholderData: (before) => before,
    retry: false,
  });

export const capabilitiesQuery = queryOptions({
  queryKey: ['capabilities'],
  queryFn: () => get<Capabilities>('/v1/capabilities'),
  staleTime: 60_000,
});

export const capabilityQuery = (id: string) =>
  queryOptions({
    queryKey: ['capabilities', id],
    queryFn: () => get<Capability>(`/v1/capabilities/${encodeURIComponent(id)}`),
    staleTime: 60_000,
  });

export const fileQuery = (agent: string) =>
  queryOptions({ queryKey: ['agent-file', agent], queryFn: () => getText(`/v1/agents/${agent}/export`), retry: false });

export function draftOf({ name, model, system_prompt: prompt, conflicts, capabilities }: AgentView): Draft {
  return {
    name,
    model: model ?? '',
    prompt,
    conflicts,
    capabilities: capabilities.map(({ capability_id: id, config = {} }) => ({ id, config })),
  };
}

/** Stores a draft: as a new agent, or in place of the one that it was made of. */
export async function saveAgent(draft: Draft, agent: AgentView | undefined): Promise<string> {
  if (agent === undefined) return (await send<AgentView>('POST', '/v1/agents', { name: draft.name.trim(), ...composition(draft) })).id;
  const path = `/v1/agents/${agent.id}`;
  await send('PUT', `${path}/capabilities`, { capabilities: draft.capabilities.map(choice), conflicts: draft.conflicts });
  await send('PATCH', path, {
    name: draft.name.trim(),
    system_prompt: draft.prompt,
    model: draft.model.trim() === '' ? null : draft.model.trim(),
  });
  return agent.id;
}

export async function openSession(agent: string): Promise<string> {
  return (await send<{ id: string }>('POST', '/v1/sessions', { agent_id: agent })).id;
}

export async function forkSession(session: string): Promise<string> {
  return (await send<{ id: string }>('POST', `/v1/sessions/${session}/fork`, {})).id;
}

export async function say(session: string, content: string): Promise<void> {
  await send('POST', `/v1/sessions/${session}/messages`, { message: { content } });
}
