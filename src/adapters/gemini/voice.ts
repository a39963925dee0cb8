import type { SpawnPlan } from '../adapter.ts';
import type { Voice } from '../families/jsonl/account.ts';
import type { McpName } from '../families/tools/effects.ts';

const PATH = ['file_path', 'absolute_path', 'path'];

/** The tools of Gemini CLI that leave a trace. */
export function voiceOf({ options }: SpawnPlan): Voice {
  return {
    tools: {
      effects: {
        read_file: { does: 'read', path: PATH },
        write_file: { does: 'write', path: PATH, content: ['content'] },
        replace: { does: 'patch', path: PATH },
        run_shell_command: { does: 'shell', command: ['command'] },
        codebase_investigator: { does: 'subagent', prompt: ['objective'] },
      },
      mcp: serverNames((options.mcpServers ?? []).map(({ name }) => name)),
    },
    guidance: 'Set GEMINI_API_KEY, or run `gemini` and log in.',
  };
}

/** `mcp_server_tool`: names of servers may hold the same mark, so those of the run are tried first. */
function serverNames(names: readonly string[]): McpName {
  return (name) => {
    if (!name.startsWith('mcp_')) return undefined;
    const rest = name.slice('mcp_'.length);
    const server = names.find((one) => rest.startsWith(`${one}_`)) ?? rest.split('_')[0] ?? '';
    return { server, toolName: rest.slice(server.length + 1) };
  };
}
