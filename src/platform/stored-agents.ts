import type { AgentPlane } from './agent-plane.ts';
import { composeStoredAgent, requireAgent } from './agents.ts';
import type { AgentSource, TurnAgent } from './turn-agent.ts';

/** Composed agents kept in memory; the one used longest ago goes first. */
const MOST = 256;

interface Kept {
  readonly revision: number;
  readonly agent: TurnAgent;
}

/** Agents of the store as turns need them. An agent is composed again when its revision changes, not before. */
export function storedAgents(plane: AgentPlane): AgentSource {
  const kept = new Map<string, Kept>();
  return async ({ agentId, host, revision }) => {
    const key = `${agentId} ${host}`;
    const known = kept.get(key);
    if (known !== undefined && known.revision === revision) return known.agent;
    const stored = await requireAgent(plane, agentId);
    if (known?.revision === stored.revision) return known.agent;
    const { systemPrompt, tools } = await composeStoredAgent(plane, stored, host);
    const { id, name, model, maxIterations, maxCostNanoUsd } = stored;
    const agent: TurnAgent = { id, name, model, maxIterations, maxCostNanoUsd, systemPrompt, tools };
    kept.delete(key);
    kept.set(key, { revision: stored.revision, agent });
    const [oldest] = kept.keys();
    if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
    return agent;
  };
}
