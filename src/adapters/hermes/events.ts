import type { Clock } from '../../base/clock.ts';
import type { Dialogue, SpawnPlan } from '../adapter.ts';
import { acpDialogue, acpMcpServers } from '../families/acp/dialogue.ts';
import { type AcpKind, toolNameInTitle } from '../families/acp/kind.ts';
import { promptWithTexts } from '../families/launch/prompt.ts';
import { resumedModel } from './spawn.ts';

const KIND: AcpKind = {
  voice: {
    guidance: 'Run `hermes setup`, or set the API key variable of the provider.',
    // Tools of MCP servers are offered as `mcp__server__tool`.
    tools: { mcp: mcpName },
  },
  silence: 'hermes could not speak ACP; it needs its acp extra: pip install "hermes-agent[acp]"',
  mcpServers: acpMcpServers,
  configure: (plan, sessionId) => {
    const modelId = resumedModel(plan);
    return modelId === undefined ? [] : [{ method: 'session/set_model', params: { sessionId, modelId } }];
  },
  prompt: (plan) => {
    const { systemPrompt, agentsDoc } = plan.options;
    const before = [systemPrompt, agentsDoc].filter((text) => text !== undefined);
    return [...before, promptWithTexts(plan)].join('\n\n');
  },
  failureIn: (answer) => /^\s*API call failed after \d+ retries: (.*)$/s.exec(answer)?.[1],
  toolName: toolNameInTitle,
  // Version 0.19 does not tell the end of a file edit.
  untoldEnds: true,
};

function mcpName(toolName: string): { readonly server: string; readonly toolName: string } | undefined {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(toolName) ?? [];
  return server === undefined || tool === undefined ? undefined : { server, toolName: tool };
}

export function dialogue(plan: SpawnPlan, clock?: Clock): Dialogue {
  return acpDialogue(KIND, plan, clock);
}
