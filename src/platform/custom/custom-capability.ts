import type { JsonObject } from '../../base/json.ts';
import type { AgentCapability } from '../agents/capability.ts';
import type { Surroundings } from '../tools/surroundings.ts';
import type { Tool } from '../tools/tool.ts';
import { codingAgentTool } from './coding-agent-tool.ts';
import type { CapabilityDefinition } from './definition.ts';
import { httpTool } from './http-tool.ts';
import { mcpTools } from './mcp-tools.ts';
import { typescriptTool } from './typescript-tool.ts';

/** A definition as the capability it describes. */
export function customCapability(definition: CapabilityDefinition): AgentCapability {
  const { id, name, description, status, icon, category, version, dependencies, mcp } = definition;
  return {
    id,
    name,
    description,
    status,
    version,
    dependencies,
    ...(icon === undefined ? {} : { icon }),
    ...(category === undefined ? {} : { category }),
    ...(definition.system_prompt === undefined ? {} : { systemPrompt: definition.system_prompt }),
    ...(definition.config_schema === undefined ? {} : { configSchema: definition.config_schema }),
    ...(actsOnHost(definition) ? { host: true as const } : {}),
    ...(mcp === undefined ? {} : { changing: true as const }),
    tools: async (config, surroundings) => {
      const own = definition.tools.map((tool) => toolOf(tool, config, surroundings));
      return mcp === undefined ? own : [...own, ...(await mcpTools(mcp, surroundings))];
    },
  };
}

/** Whether it starts programs of this machine outside a sandbox: an MCP server or a coding agent. */
export function actsOnHost({ tools, mcp }: CapabilityDefinition): boolean {
  return mcp?.transport === 'stdio' || tools.some(({ type }) => type === 'coding_agent');
}

function toolOf(tool: CapabilityDefinition['tools'][number], config: JsonObject, surroundings: Surroundings): Tool {
  switch (tool.type) {
    case 'http':
      return httpTool(tool, config, surroundings);
    case 'typescript':
      return typescriptTool(tool, config, surroundings);
    case 'coding_agent':
      return codingAgentTool(tool, surroundings);
  }
}
