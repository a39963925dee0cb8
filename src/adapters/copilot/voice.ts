import type { SpawnPlan } from '../adapter.ts';
import type { Voice } from '../families/jsonl/account.ts';

const PATH = ['path', 'file_path'];

/** The tools of Copilot CLI that leave a trace. */
export function voiceOf({ options }: SpawnPlan): Voice {
  const servers = (options.mcpServers ?? []).map(({ name }) => name);
  return {
    tools: {
      effects: {
        view: { does: 'read', path: PATH },
        create: { does: 'write', path: PATH, content: ['file_text'] },
        edit: { does: 'patch', path: PATH },
        str_replace: { does: 'patch', path: PATH },
        bash: { does: 'shell', command: ['command'] },
        powershell: { does: 'shell', command: ['command'] },
        task: { does: 'subagent', prompt: ['prompt'] },
      },
      // `server-tool`: a name of a server may hold the same mark, so only those of the run can be told apart.
      mcp: (name) => {
        const server = servers.find((one) => name.startsWith(`${one}-`));
        return server === undefined ? undefined : { server, toolName: name.slice(server.length + 1) };
      },
    },
    guidance: 'Run `copilot` and use /login, or set COPILOT_GITHUB_TOKEN.',
  };
}
