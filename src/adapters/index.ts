import type { AgentName } from '../contract/runs/coding-agent.ts';
import { claude } from './claude/adapter.ts';
import { codex } from './codex/adapter.ts';
import { copilot } from './copilot/adapter.ts';
import { cursor } from './cursor/adapter.ts';
import type { RegisteredAdapter } from './define.ts';
import { gemini } from './gemini/adapter.ts';
import { hermes } from './hermes/adapter.ts';
import { omp } from './omp/adapter.ts';
import { openclaw } from './openclaw/adapter.ts';
import { opencode } from './opencode/adapter.ts';
import { pi } from './pi/adapter.ts';

export type { RegisteredAdapter };

/** Every coding agent, in the order tables show them. */
export const adapters: readonly RegisteredAdapter[] = [claude, codex, gemini, copilot, cursor, opencode, pi, omp, openclaw, hermes];

const byName = new Map<AgentName, RegisteredAdapter>(adapters.map((adapter) => [adapter.agent, adapter]));

export function findAdapter(agent: AgentName): RegisteredAdapter | undefined {
  return byName.get(agent);
}
