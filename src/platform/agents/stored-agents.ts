import { LIST_MS } from '../mcp/connections.ts';
import type { AgentSource, TurnAgent } from '../turns/turn-agent.ts';
import type { AgentPlane } from './agent-plane.ts';
import { composeStoredAgent, requireAgent } from './agents.ts';

/** Composed agents kept in memory; the one used longest ago goes first. */
const MOST = 256;

interface Kept {
  readonly revision: number;
  readonly agent: TurnAgent;
  /** Of an agent with tools of servers that may change them: when they were looked at. */
  readonly looked: { readonly at: number; readonly changes: number } | undefined;
}

/**
 * Agents of the store as turns need them. An agent is composed again when its revision changes, and one with tools of an MCP server
 * also when a server has said that its tools changed, or has not been asked for a while.
 */
export function storedAgents(plane: AgentPlane): AgentSource {
  const kept = new Map<string, Kept>();
  const { mcp } = plane.surroundings;
  const isCurrent = ({ looked }: Kept): boolean =>
    looked === undefined || (looked.changes === mcp.changes && performance.now() - looked.at < LIST_MS);
  return async ({ agentId, host, revision }) => {
    const key = `${agentId} ${host}`;
    const found = kept.get(key);
    const known = found !== undefined && isCurrent(found) ? found : undefined;
    if (known !== undefined && known.revision === revision) return known.agent;
    const stored = await requireAgent(plane, agentId);
    if (known?.revision === stored.revision) return known.agent;
    const look = { at: performance.now(), changes: mcp.changes };
    const { systemPrompt, tools, changing } = await composeStoredAgent(plane, stored, host);
    const { id, name, model, maxIterations, maxCostNanoUsd } = stored;
    const agent: TurnAgent = { id, name, model, maxIterations, maxCostNanoUsd, systemPrompt, tools };
    kept.delete(key);
    kept.set(key, { revision: stored.revision, agent, looked: changing ? look : undefined });
    const [oldest] = kept.keys();
    if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
    return agent;
  };
}
