import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { CapabilityList } from '../../../../src/gateway/api/agent-capabilities.ts';
import { get, send } from '../../api/client.ts';
import type { AgentPreview, Agents, AgentView, Messages, Sessions } from '../../api/types.ts';

export type Capabilities = z.infer<typeof CapabilityList>;

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

export const messagesQuery = (session: string | undefined) =>
  queryOptions({
    queryKey: ['messages', session],
    queryFn: () => get<Messages>(`/v1/sessions/${session}/messages?limit=1000`),
    enabled: session !== undefined,
  });

export const previewQuery = (agent: string | undefined) =>
  queryOptions({
    queryKey: ['preview', agent],
    queryFn: () => get<AgentPreview>(`/v1/agents/${agent}/preview`),
    enabled: agent !== undefined,
    retry: false,
  });

export const capabilitiesQuery = queryOptions({
  queryKey: ['capabilities'],
  queryFn: () => get<Capabilities>('/v1/capabilities'),
  staleTime: 60_000,
});

export async function createAgent(agent: {
  readonly name: string;
  readonly system_prompt: string;
  readonly model: string | null;
  readonly capabilities: readonly string[];
}): Promise<AgentView> {
  return await send<AgentView>('POST', '/v1/agents', agent);
}

export async function openSession(agent: string, title: string): Promise<string> {
  const { id } = await send<{ id: string }>('POST', '/v1/sessions', { agent_id: agent, ...(title === '' ? {} : { title }) });
  return id;
}

export async function say(session: string, content: string): Promise<void> {
  await send('POST', `/v1/sessions/${session}/messages`, { message: { content } });
}
